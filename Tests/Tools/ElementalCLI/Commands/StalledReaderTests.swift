import Foundation
import TestSupport
import Testing

/// Standard output is a full pipe that nobody reads, and more and more is written.
struct StalledReaderTests {
    private static let publish = [
        "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--stay", "--element", "1:Count:int32:wo",
        "--element", "2:Speed:float=0", "--element", "3:Text:string:wo",
    ]

    /// Of texts of some length: numbers would fill all queues a hundred times as slowly.
    private static func flood(_ port: Int, devices: Int = 6) throws -> Flood {
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 1000)
        return try Flood(to: port, devices: devices, element: 3) { _ in text }
    }

    private func port(of service: ChildProcess) async throws -> Int {
        let line = try await service.nextLine(of: .error) { $0.contains("listens at port") }
        return try #require(line.text.split(separator: " ").last.flatMap { Int($0) })
    }

    @Test("a signal withdraws the service and tells its devices", arguments: [SIGTERM, SIGINT])
    func aSignalEndsAServiceInOrder(_ signal: Int32) async throws {
        try await UnreadPipe.with(Self.publish) { service, _ in
            let port = try await port(of: service)
            try await withCommand(["watch", "127.0.0.1:\(port)", "Speed", "--timeout", Patience.seconds]) { watch in
                try await watch.nextLine { $0 == "Speed=0.0" }
                let flood = try Self.flood(port)
                try await flood.waitUntilStuck(service)
                service.send(signal: signal)
                try await watch.nextLine(of: .error) { $0.contains("the service has ended") }
                try await service.expectExit()
            }
        }
    }

    @Test
    func aSecondSignalEndsAServiceAtOnce() async throws {
        // Its devices keep the end in order waiting for a second. On a slow machine that may be over before the second signal.
        var ended: ChildProcess.ExitStatus?
        for _ in 0..<20 where ended != .exited(130) {
            ended = try await UnreadPipe.with(Self.publish) { service, _ in
                let flood = try Self.flood(try await port(of: service))
                try await flood.waitUntilStuck(service)
                service.send(signal: SIGINT)
                // Signals within 250 ms of the first count as the same one.
                try await eventually("the second signal takes effect") {
                    service.send(signal: SIGTERM)
                    return !service.isRunning
                }
                return try await service.waitForExit()
            }
            try #require(ended == .exited(130) || ended == .exited(0))
        }
        #expect(ended == .exited(130))
    }

    @Test
    func standardInputGoesOnToWork() async throws {
        try await UnreadPipe.with(Self.publish) { service, _ in
            let port = try await port(of: service)
            try await withCommand(["watch", "127.0.0.1:\(port)", "Speed", "--timeout", Patience.seconds]) { watch in
                let flood = try Self.flood(port)
                try await flood.waitUntilStuck(service)
                for value in 1...20 {
                    try service.writeLine("Speed=\(value)")
                    try await watch.nextLine { $0 == "Speed=\(value).0" }
                }
                try service.writeLine("Sped=1")
                try await service.nextLine(of: .error) { $0.contains("did you mean 'Speed'?") }
            }
        }
    }

    @Test
    func memoryIsBoundedAndNothingIsLostWhenTheReaderComesBack() async throws {
        try await UnreadPipe.with(Self.publish) { service, pipe in
            let port = try await port(of: service)
            // More than sockets buffer: some 6 MB each.
            let (devices, values) = (3, 10_000)
            let padding = [UInt8](repeating: UInt8(ascii: "x"), count: 992)
            let before = try ProcessFigures(of: service).residentMemory
            let flood = try Flood(to: port, devices: devices, element: 3, limit: values) { number in
                Array(String(10_000_000 + number).utf8) + padding
            }
            try await flood.waitUntilStuck(service)
            #expect(flood.sent < devices * values, "the service goes on reading")
            expectMemory(try ProcessFigures(of: service).residentMemory - before, below: 20 << 10)

            var next = [Int](repeating: 0, count: devices)
            var rest: [UInt8] = []
            var unexpected: [String] = []
            try await eventually("all values") {
                while true {
                    let bytes = pipe.read()
                    if bytes.isEmpty { break }
                    rest += bytes
                    var start = 0
                    while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                        let line = rest[start..<end]
                        start = end + 1
                        // Text=10000017xxx…  from flood2
                        let value = Int(String(decoding: line.dropFirst(5).prefix(8), as: UTF8.self))
                        let device = Int(String(decoding: line.suffix(1), as: UTF8.self))
                        if let device, let value, next.indices.contains(device), value == 10_000_000 + next[device] {
                            next[device] += 1
                        } else {
                            unexpected.append(String(decoding: line.prefix(40), as: UTF8.self))
                        }
                    }
                    rest.removeFirst(start)
                }
                return next.allSatisfy { $0 == values } || !unexpected.isEmpty
            }
            #expect(unexpected.isEmpty, "\(unexpected.prefix(3)), \(next)")
            try await service.expectExit(after: SIGTERM)
        }
    }

    @Test("devices that come, send and go do not take more memory with each")
    func devicesThatGo() async throws {
        try await UnreadPipe.with(Self.publish) { service, _ in
            let port = try await port(of: service)
            // Until then all is reported, and nothing waits.
            let flood = try Flood(to: port, devices: 6)
            try await flood.waitUntilStuck(service)
            let before = try ProcessFigures(of: service).residentMemory
            let text = PeerCostTests.header(3, 128 << 10) + [UInt8](repeating: 65, count: 128 << 10)
            for _ in 0..<400 {
                let device = try RawSocket.connect(to: port)
                try device.write(PeerCostTests.name + PeerCostTests.hello + text + text + text)
                device.closeOutput()
                _ = try await device.readToEnd()
            }
            let grown = try ProcessFigures(of: service).residentMemory - before
            // The values of 64 of them, 24 MiB, and what the allocator keeps.
            if Sanitizer.current == nil { #expect(grown < 75 << 10, "\(grown) KiB") }
            withExtendedLifetime(flood) {}
        }
    }

    @Test("a session ends on a signal, after reading its commands", arguments: [false, true])
    func aSessionEnds(withErrorsInTheSamePipe: Bool) async throws {
        try await Robot.with(["1:Count:int32", "2:Speed:float=0", "3:Text:string"]) { service, target in
            try await UnreadPipe.with(["connect", target], andErrors: withErrorsInTheSamePipe) { session, pipe in
                try session.writeLine("watch")
                try await eventually("the session watches") { pipe.byteCount > 0 }
                // The service relays them to the session.
                let port = try #require(target.split(separator: ":").last.flatMap { Int($0) })
                let flood = try Self.flood(port, devices: 3)
                let figures = ProcessFigures(of: session)
                try await eventually("the session stops reading") {
                    // The devices of the flood read nothing either.
                    try figures.leavesUnread(3 + 1, .client, port: port)
                }
                withExtendedLifetime(flood) {}
                try session.writeLine("set Speed=0.5")
                // Some megabytes of the flood are printed before it, slowly in a debug build.
                try await service.nextEvent("value", within: Patience.wait * 3) { $0["element"] == "Speed" }
                try await session.expectExit(after: SIGTERM)
            }
        }
    }

    @Test("standard error does not wait for standard output")
    func errorsPassAStuckOutput() async throws {
        try await UnreadPipe.with(Self.publish + ["--verbose"]) { service, _ in
            let port = try await port(of: service)
            let flood = try Self.flood(port)
            try await flood.waitUntilStuck(service)
            let newcomer = try RawSocket.connect(to: port)
            try newcomer.write([0xFE, 8, 0, 0, 0] + Array("newcomer".utf8))
            try await service.nextLine(of: .error) { $0.contains("newcomer connected") }
        }
    }

    @Test
    func aSlowReaderGetsAllOfAnOutputThatIsComplete() async throws {
        try await Robot.with(["1:Text:string"]) { service, target in
            let text = String(repeating: "0123456789abcdef", count: 20_000)
            try service.writeLine("Text=\(text)")
            try await UnreadPipe.with(["get", target, "Text", "--raw"]) { get, pipe in
                try await eventually("the pipe is full") { pipe.byteCount >= 65536 }
                var bytes: [UInt8] = []
                try await eventually("the whole text") {
                    bytes += pipe.read(8192)
                    return bytes.count >= text.utf8.count
                }
                try await get.expectExit()
                #expect(bytes == Array(text.utf8))
            }
        }
    }
}
