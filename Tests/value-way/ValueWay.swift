import Elemental
import Support

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// One end of a connection over which values pass one by one. Tests/way counts what runs for each.
///
///     value-way serve KIND COUNT                prints its port, and sends COUNT values to a client that asks for them
///     value-way send|receive KIND COUNT PORT    a client that sends COUNT values, or receives them
///
/// KIND is tcp, udp or pieces.
@main
enum ValueWay {
    enum Way {
        static let level = Element<Float>(1, "Level")
        static let motion = Element<Float>(2, "Motion", transport: .udp)
        static let image = Element<Data>(3, "Image")
        static let isReady = Element<Bool>(4, "Ready")
        static let all: ElementCatalogue = [level, motion, image, isReady]
    }

    /// Between two values in µs, so that each is sent alone.
    private static let interval: UInt32 = 10000
    /// Long enough to be sent in pieces.
    private static let image = Data(repeating: 1, count: 200_000)

    static func main() {
        // The main thread stays, unlike that of an asynchronous main: callgrind does not survive its end.
        Task.detached {
            do {
                try await run()
                exit(0)
            } catch {
                fatalError("\(error)")
            }
        }
        while true { pause() }
    }

    private static func run() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 3, let count = Int(words[2]) else { fatalError("see the head of ValueWay.swift") }
        if words[0] == "serve" { return try await serve(words[1], count) }
        var options = ConnectOptions()
        options.expectsHello = true
        let device = try await ElementalDevice.connect(
            host: "127.0.0.1", port: Int(words[3]) ?? 0, as: words[0], elements: Way.all, options: options)
        if words[0] == "send" {
            for _ in 0..<count {
                usleep(interval)
                switch words[1] {
                case "udp": try device.send(0.5, to: Way.motion)
                case "pieces": try device.send(image, to: Way.image)
                default: try device.send(0.5, to: Way.level)
                }
            }
            try await device.waitUntilSent()
        } else {
            let isDone = Latch()
            let received = Locked(0)
            let take: @Sendable () -> Void = {
                let isLast = received.withLock { received in
                    received += 1
                    return received == count
                }
                if isLast { isDone.open() }
            }
            device.onValue(of: Way.level) { _ in take() }
            device.onValue(of: Way.motion) { _ in take() }
            device.onBytes(of: Way.image) { _, _ in take() }
            try device.send(true, to: Way.isReady)
            _ = await isDone.wait()
        }
        await device.close()
    }

    private static func serve(_ kind: String, _ count: Int) async throws {
        var configuration = ServiceConfiguration()
        configuration.address = "127.0.0.1"
        configuration.isPublished = false
        let service = ElementalService("way", displayName: "Way", elements: Way.all, configuration: configuration)
        let isAsked = Latch()
        service.onValue(of: Way.isReady) { _, _ in isAsked.open() }
        try await service.start()
        print(service.port ?? 0)
        fflush(nil)
        _ = await isAsked.wait()
        for _ in 0..<count {
            usleep(interval)
            switch kind {
            case "udp": _ = try service.send(0.5, to: Way.motion)
            case "pieces": _ = try service.send(image, to: Way.image)
            default: _ = try service.send(0.5, to: Way.level)
            }
        }
        // Until the client has read them all and is gone.
        while !service.devices.isEmpty { usleep(interval) }
    }
}
