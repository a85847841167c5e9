import ChatRoom
import Elemental
import SampleSecurity
import SignalR

/// A device that takes part: what is typed there is said, and what others say is printed there. The Commodore at its gateway is
/// one.
struct DeviceGuest {
    private let service: String
    private let name: String?
    private let address: (host: String, port: Int)?
    private let options: ConnectOptions

    private static let printed = Element<String>(3, "print")
    private static let typed = Element<String>(4, "line")
    private static let elements: ElementCatalogue = [printed.definition, typed.definition]

    /// - Parameter target: `SERVICE`, `SERVICE/NAME` or `HOST:PORT`.
    init(_ target: String, connect options: ConnectOptions) {
        self.options = options
        let parts = target.split(separator: "/", maxSplits: 1).map(String.init)
        (service, name) = (parts.first ?? target, parts.count > 1 ? parts[1] : nil)
        let place = target.split(separator: ":").map(String.init)
        address = place.count == 2 ? Int(place[1]).map { (place[0], $0) } : nil
    }

    func chat(over connection: HubConnection, in options: ChatClient) async throws {
        let (lines, writer) = AsyncStream.makeStream(of: ChatLine.self, bufferingPolicy: .bufferingNewest(100))
        let room = ChatRoom(connection, room: options.room, name: options.name, otherEvent: options.event) { event in
            switch event {
            case .line(let line): if line.name != options.name { writer.yield(line) }
            case .joined: say("* joined")
            case .joinedWithoutHistory: say("* joined; this hub keeps no lines")
            case .reconnecting(let reason): say("* the connection is lost, reconnecting: \(reason)")
            case .closed(let reason): say("* the connection is closed\(reason.map { ": \($0)" } ?? "")")
            case .refused(let text, let reason): say("* not said: \(text) (\(reason))")
            case .present, .typing: break
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await room.run() }
            group.addTask { try await follow(room, lines) }
            _ = try await group.next()
            group.cancelAll()
        }
    }

    /// Connects to the device, and again when it comes back.
    private func follow(_ room: ChatRoom, _ lines: AsyncStream<ChatLine>) async throws {
        while !Task.isCancelled {
            do {
                let device = try await connect()
                // The line that the service has kept was typed before: it comes ahead of the answer to a ping.
                _ = try await device.catalogue()
                _ = try await device.ping()
                try await take(part: device, room, lines)
            } catch {
                say("* \(error)")
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Until the connection to the device is lost.
    private func take(part device: ElementalDevice, _ room: ChatRoom, _ lines: AsyncStream<ChatLine>) async throws {
        let (typed, typer) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(100))
        let registration = device.onValue(of: Self.typed) { text in _ = typer.yield(text) }
        defer { registration.cancel() }
        say("* the device is connected: \(device)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await text in typed { _ = await room.say(text) } }
            group.addTask { for await line in lines { try await Self.show(line, on: device) } }
            group.addTask { try await device.waitUntilDisconnected() }
            _ = try await group.next()
            group.cancelAll()
        }
    }

    private static func show(_ line: ChatLine, on device: ElementalDevice) async throws {
        do {
            try await device.set("\(line.name): \(line.text)", to: printed)
        } catch {
            // A gateway without a program.
            guard error.code == .refused else { throw error }
            say("* not printed: \(error.message)")
        }
    }

    private func connect() async throws -> ElementalDevice {
        if let address {
            return try await ElementalDevice.connect(
                host: address.host, port: address.port, as: "chat", elements: Self.elements, options: options)
        }
        return try await ElementalBrowser(service).firstService(named: name)
            .connect(as: "chat", elements: Self.elements, options: options)
    }
}
