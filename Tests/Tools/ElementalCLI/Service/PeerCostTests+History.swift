import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

extension PeerCostTests {
    private static let historyHello: [UInt8] =
        header(-4, 7) + Hello(features: [.emptyValues, .ping, .pieces, .history]).wireBytes

    /// Requests for all that there is: as a client may ask that has no position, one of another history, or one that it made up.
    private static func requests(_ range: Range<Int>) -> [UInt8] {
        range.flatMap { index in
            let made = HistoryPosition(life: HistoryLife(), number: .max >> UInt64(index % 64), check: UInt64(index))
            let start: HistoryStart =
                switch index % 4 {
                case 0: .newest(.max)
                case 1: .time(.min)
                case 2: .position(HistoryPosition(life: HistoryLife(), number: 1, check: 0))
                default: .position(made)
                }
            let request = HistoryRequest(
                token: UInt64(index), element: 2, from: start, waits: index.isMultiple(of: 3))
            return header(-18, request.wireBytes.count) + request.wireBytes
        }
    }

    private static func connect(_ port: Int) throws -> RawSocket {
        let socket = try RawSocket.connect(to: port)
        try socket.write(name + historyHello)
        return socket
    }

    /// Runs a body that blocks, on a thread of its own.
    private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Sets the level so often and waits each time until the service has sent it.
    ///
    /// - Returns: how long that took, in microseconds, sorted.
    private static func exchange(_ count: Int, _ client: RawSocket) async throws -> [Int] {
        var times: [Int] = []
        for index in 0..<count {
            let level = UInt8(20 + index % 100)
            let start = ContinuousClock.now
            try client.write(header(1, 1) + [level])
            while true {
                let (id, value) = try await client.readFrame()
                if id == 1, value == [level] { break }
            }
            times.append(Int((ContinuousClock.now - start) / .microseconds(1)))
        }
        return times.sorted()
    }

    private static func text(_ times: [Int]) -> String {
        "\(times[times.count / 2]) µs at the median, \(times[(times.count - 1) * 99 / 100]) µs at the 99th percentile"
    }

    /// Sends requests until the service ends the connection.
    private static func flood(_ port: Int) async throws {
        let socket = try connect(port)
        let requests = requests(0..<1000)
        try await onThread { while (try? socket.write(requests)) != nil {} }
    }

    /// Asks again for each answer, so that as many requests wait as may.
    ///
    /// - Returns: how many bytes of answers there were.
    private static func ask(_ count: Int, _ port: Int) async throws -> Int {
        let socket = try connect(port)
        try socket.write(requests(0..<waitingCount))
        var (answers, bytes) = (0, 0)
        while answers < count {
            let (id, value) = try await socket.readFrame()
            guard id == -18 else { continue }
            // No refusal.
            #expect(value.first == 2)
            (answers, bytes) = (answers + 1, bytes + value.count)
            try socket.write(requests(answers + waitingCount..<answers + waitingCount + 1))
        }
        return bytes
    }

    /// How many requests of a client may wait.
    private static let waitingCount = 144

    @Test("requests for a history without end: what waits is limited, and others are served", .backstop)
    func historyRequests() async throws {
        let arguments = ["--element", "2:Picture:data:history 24h", "--history", "memory"]
        try await Self.publishing(arguments) { service, figures, port in
            // 16 MiB of values that are kept.
            let filler = try Self.connect(port)
            let echo = Task { try await filler.readToEnd().count }
            let value = Self.header(2, 4096) + [UInt8](repeating: 65, count: 4096)
            for _ in 0..<4300 { try filler.write(value) }
            try filler.write(Self.header(1, 1) + [9])
            try await service.nextEvent("value") { $0.number("value") == 9 }
            filler.closeOutput()
            _ = try await echo.value

            let client = try Self.connect(port)
            let alone = try await Self.exchange(300, client)
            let (memory, time) = (try figures.residentMemory, try figures.processorTime)
            var most = memory
            let silent = try (0..<8).map { _ in try Self.connect(port) }
            for socket in silent { try socket.write(Self.requests(0..<Self.waitingCount)) }
            let isOver = Locked(false)
            async let answers = {
                defer { isOver.withLock { $0 = true } }
                async let other = Self.ask(4000, port)
                return try await Self.ask(4000, port) + other
            }()
            async let floods: Void = { for _ in 0..<3 { try await Self.flood(port) } }()
            var times: [Int] = []
            while !isOver.withLock({ $0 }) || times.count < 300 {
                times += try await Self.exchange(20, client)
                most = max(most, try figures.residentMemory)
            }
            let bytes = try await answers
            try await floods
            for _ in 0..<3 {
                let end = try await service.nextEvent("disconnected") { $0["reason"] == "protocolViolation" }
                let message: String = end["message"] ?? ""
                #expect(message.contains("more than 512 history requests"), "\(message)")
            }
            most = max(most, try figures.residentMemory)
            let spent = try figures.processorTime - time
            #expect(bytes > 8000 << 12, "\(bytes) bytes")
            for socket in silent { socket.closeOutput() }
            for socket in silent {
                let queued = try await socket.readToEnd().count
                #expect(queued <= Self.waitingCount << 13, "\(queued) bytes")
            }
            Self.tell(
                "two clients that always have 144 requests for a history of 16 MiB and read \(bytes >> 20) MiB of answers, eight "
                    + "that read none, three that ask without end: \(most - memory) KiB, \(spent) s of processor time")
            Self.tell("a value there and back beside them: \(Self.text(times.sorted())); alone: \(Self.text(alone))")
            expectMemory(most - memory, below: 24 << 10)
        }
    }
}
