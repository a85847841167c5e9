import Foundation
import Synchronization
import TestSupport
import Testing

/// `elemental signalr listen` and hubs that send endlessly and read nothing: the send queue is bounded.
struct FloodingHubTests {
    /// Writes on a thread of its own, so that a full socket blocks nothing else.
    private final class Flood: Sendable {
        private let count = Atomic(0)
        private let isOver = Atomic(false)

        init(_ hub: ScriptedPeer, _ chunk: [UInt8], byteCount: Int) {
            Thread.detachNewThread { [self] in
                while sent < byteCount {
                    do { try hub.write(chunk) } catch { break }
                    count.add(chunk.count, ordering: .relaxed)
                }
                isOver.store(true, ordering: .relaxed)
            }
        }

        /// How many bytes the system has accepted.
        var sent: Int { count.load(ordering: .relaxed) }

        /// Whether nothing more is written.
        var hasEnded: Bool { isOver.load(ordering: .relaxed) }

        /// Waits until the client has stopped reading.
        func waitUntilRefused(by client: ChildProcess, at port: Int) async throws {
            let figures = ProcessFigures(of: client)
            var polls = 0
            try await eventually("the client stops reading, after \(sent) bytes", every: .milliseconds(10)) {
                if hasEnded { throw TestSupportError("the client has taken all \(sent) bytes") }
                polls = try figures.leavesUnread(1, .client, port: port) ? polls + 1 : 0
                return polls == 3
            }
        }
    }

    private func withListener(
        _ options: [String], _ body: (ChildProcess, RawSocket, Int) async throws -> Void
    ) async throws {
        let (listener, port) = try RawSocket.listen(receiveBuffer: 4096)
        try await withCommand(["signalr", "listen", "http://127.0.0.1:\(port)/hub", "Say"] + options) { child in
            try await body(child, listener, port)
        }
    }

    private static let alive = #"{"type":6}"#
    private static let say = #"{"type":1,"target":"Say","arguments":["there"]}"#
    /// A call of a method that the client does not have. The error that answers it repeats the method's long name.
    private static let question: [UInt8] =
        Array(
            #"{"type":4,"invocationId":"1","target":"\#(String(repeating: "x", count: 10_000))","arguments":[]}"#.utf8)
        + [0x1E]
    /// The bytes of such calls.
    private static let byteCount = 24 << 20

    @Test
    func pingsThatNobodyReadTheAnswersOf() async throws {
        try await withListener(["--skip-negotiation"]) { child, listener, _ in
            let hub = try await ScriptedPeer.acceptWebSocket(on: listener)
            try hub.say(Self.say)
            try await child.nextLine { $0 == #"Say "there""# }
            let before = try ProcessFigures(of: child).residentMemory
            let ping = ScriptedPeer.frame(Array(repeating: 1, count: 125), opcode: 9)
            let pings = Array((0..<1000).map { _ in ping }.joined())
            // The hub says meanwhile that it is there: pings of the WebSocket do not.
            for _ in 0..<80 {
                try hub.write(pings)
                try hub.say(Self.alive)
            }
            try hub.say(Self.say)
            try await child.nextLine { $0 == #"Say "there""# }
            expectMemory(try ProcessFigures(of: child).residentMemory - before, below: 12_000, "for 80,000 pings")
            // The last ping is answered, as RFC 6455 requires: its pong follows older answers, of which most were given up.
            try hub.write(ScriptedPeer.frame([7], opcode: 9))
            var pongs = 0
            while try await hub.frame() != ScriptedPeer.Frame(opcode: 10, isLast: true, bytes: [7]) { pongs += 1 }
            #expect(pongs < 80_000)
        }
    }

    @Test
    func callsThatWantResultsWhichNobodyReads() async throws {
        try await withListener(["--skip-negotiation"]) { child, listener, port in
            let hub = try await ScriptedPeer.acceptWebSocket(on: listener)
            try hub.say(Self.say)
            try await child.nextLine { $0 == #"Say "there""# }
            let before = try ProcessFigures(of: child).residentMemory
            let questions = ScriptedPeer.frame(Self.question)
            let flood = Flood(hub, questions, byteCount: Self.byteCount)
            try await flood.waitUntilRefused(by: child, at: port)
            expectMemory(try ProcessFigures(of: child).residentMemory - before, below: 20_000)
            // A hub that reads again gets them all, and continues. It says meanwhile that it is there.
            for number in 0..<flood.sent / questions.count {
                _ = try await hub.message()
                if flood.hasEnded, number.isMultiple(of: 50) { try hub.say(Self.alive) }
            }
        }
    }

    @Test
    func callsThatWantResultsOverServerSentEvents() async throws {
        try await withListener(["--transport", "sse", "--timeout", Patience.seconds]) { child, listener, port in
            let (hub, posts) = try await ScriptedPeer.acceptServerSentEvents(on: listener)
            defer { withExtendedLifetime(posts) {} }
            try hub.write("data: {}\u{1e}\n\ndata: \(Self.say)\u{1e}\n\n")
            try await child.nextLine { $0 == #"Say "there""# }
            let before = try ProcessFigures(of: child).residentMemory
            let questions: [UInt8] = Array("data: ".utf8) + Self.question + [10, 10]
            // From here on, no POST is answered.
            let flood = Flood(hub, questions, byteCount: Self.byteCount)
            try await flood.waitUntilRefused(by: child, at: port)
            expectMemory(try ProcessFigures(of: child).residentMemory - before, below: 20_000)
        }
    }
}
