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
        let (typed, typer) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(100))
        let room = ChatRoom(connection, room: options.room, name: options.name, otherEvent: options.event) { event in
            switch event {
            case .line(let line): if !line.isOwn { writer.yield(line) }
            case .joined: say("* joined")
            case .joinedWithoutHistory: say("* joined; this hub keeps no lines")
            case .reconnecting(let reason): say("* the connection is lost, reconnecting: \(reason)")
            case .closed(let reason): say("* the connection is closed\(reason.map { ": \($0)" } ?? "")")
            case .missed(let count): say("* \(count) lines are missing")
            case .refused(let text, let reason): say("* not said: \(text) (\(reason))")
            case .present, .typing: break
            }
        }
        let printer = Printer()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await room.run() }
            // For as long as the room lasts, whatever becomes of the device: a stream ends when who reads it is cancelled.
            group.addTask { for await line in lines { try await printer.print("\(line.name): \(line.text)") } }
            group.addTask {
                for await text in typed {
                    while !(await room.say(text)) { try await Task.sleep(for: .milliseconds(100)) }
                }
            }
            group.addTask { try await follow(printer, typer) }
            _ = try await group.next()
            group.cancelAll()
        }
    }

    /// Connects to the device, and again when it comes back.
    private func follow(_ printer: Printer, _ typer: AsyncStream<String>.Continuation) async throws {
        while !Task.isCancelled {
            do {
                let device = try await connect()
                // The line that the service has kept was typed before: it comes ahead of the answer to a ping.
                _ = try await device.catalogue()
                _ = try await device.ping()
                let registration = device.onValue(of: Self.typed) { text in _ = typer.yield(text) }
                defer { registration.cancel() }
                say("* the device is connected: \(device)")
                await printer.use(device)
                try await device.waitUntilDisconnected()
                say("* the device is away")
            } catch {
                guard !Task.isCancelled else { return }
                say("* \(error)")
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Prints lines on the device, one after the other; each waits until the device has taken it.
    private actor Printer {
        private var device: ElementalDevice?

        func use(_ device: ElementalDevice) { self.device = device }

        func print(_ line: String) async throws {
            while true {
                if let device, device.isConnected {
                    do {
                        return try await device.set(line, to: DeviceGuest.printed)
                    } catch {
                        // A gateway without a program.
                        guard error.code != .refused else { return say("* not printed: \(error.message)") }
                    }
                }
                try await Task.sleep(for: .milliseconds(200))
            }
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
