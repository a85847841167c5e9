import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

extension PeerCostTests {
    private static let historyHello: [UInt8] =
        header(-4, 7) + Hello(features: [.emptyValues, .ping, .pieces, .history]).wireBytes

    /// A thousand requests for all that there is: as a client may ask that has no position, one of another history, or one that
    /// it made up.
    private static let requests: [UInt8] = (0..<1000).flatMap { index in
        let made = HistoryPosition(life: HistoryLife(), number: .max >> UInt64(index % 64), check: UInt64(index))
        let start: HistoryStart =
            switch index % 4 {
            case 0: .newest(.max)
            case 1: .time(.min)
            case 2: .position(HistoryPosition(life: HistoryLife(), number: 1, check: 0))
            default: .position(made)
            }
        let request = HistoryRequest(token: UInt64(index), element: 2, from: start, waits: index.isMultiple(of: 3))
        return header(-18, request.wireBytes.count) + request.wireBytes
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
            let (silent, reading) = (try Self.connect(port), try Self.connect(port))
            let isOver = Locked(false)
            async let ignoring: Void = Self.onThread {
                defer { isOver.withLock { $0 = true } }
                for _ in 0..<400 { try silent.write(Self.requests) }
                try silent.write(Self.header(1, 1) + [8])
            }
            async let asking: Void = Self.onThread {
                while !isOver.withLock({ $0 }) { try reading.write(Self.requests) }
                reading.closeOutput()
            }
            async let answers = reading.readToEnd().count
            var times: [Int] = []
            while !isOver.withLock({ $0 }) || times.count < 300 {
                times += try await Self.exchange(20, client)
                most = max(most, try figures.residentMemory)
            }
            try await ignoring
            try await asking
            try await service.nextEvent("value") { $0.number("value") == 8 }
            let bytes = try await answers
            most = max(most, try figures.residentMemory)
            let spent = try figures.processorTime - time
            #expect(bytes > 4 << 20, "\(bytes) bytes")
            silent.closeOutput()
            let queued = try await silent.readToEnd().count
            #expect(queued < 20 << 20, "\(queued) bytes")
            Self.tell(
                "400,000 requests for a history of 16 MiB from a client that reads no answer, and as many as it can of one that "
                    + "reads \(bytes >> 20) MiB of answers: \(most - memory) KiB, \(spent) s of processor time")
            Self.tell("a value there and back beside them: \(Self.text(times.sorted())); alone: \(Self.text(alone))")
            expectMemory(most - memory, below: 24 << 10)
        }
    }
}
