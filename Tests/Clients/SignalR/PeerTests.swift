import Foundation
import NIOCore
import NIOSSL
import TestSupport
import Testing

@testable import SignalR

extension Peers {
    /// A started connection, which is stopped after the body.
    static func withConnection(
        _ builder: HubConnectionBuilder, prepare: (HubConnection) -> Void = { _ in },
        _ body: (HubConnection) async throws -> Void
    ) async throws {
        let connection = builder.build()
        prepare(connection)
        try await connection.start()
        try await carryOut {
            try await body(connection)
        } finally: {
            await connection.stop()
        }
    }
}

/// The client with a third-party hub and third-party clients.
@Suite(.enabled(if: Peers.areThere, "the peers are set up by Tests/install signalr"))
struct PeerTests {
    struct Way: Sendable, CustomTestStringConvertible {
        let kind: TransportKind
        let isBinary: Bool
        var testDescription: String { "\(kind), \(isBinary ? "MessagePack" : "JSON")" }

        func builder(_ port: Int) -> HubConnectionBuilder {
            patientHub(url: "http://127.0.0.1:\(port)/hub").withTransports(kind)
                .withHubProtocol(isBinary ? .messagePack : .json)
        }

        /// A started connection to a hub during the body.
        func connect(
            _ change: (HubConnectionBuilder) -> HubConnectionBuilder = { $0 },
            prepare: (HubConnection) -> Void = { _ in }, _ body: (HubConnection) async throws -> Void
        ) async throws {
            try await Peers.withHub { _, port in
                try await Peers.withConnection(change(builder(port)), prepare: prepare, body)
            }
        }
    }

    static let ways = [
        Way(kind: .webSockets, isBinary: false), Way(kind: .webSockets, isBinary: true),
        Way(kind: .serverSentEvents, isBinary: false), Way(kind: .longPolling, isBinary: false),
        Way(kind: .longPolling, isBinary: true),
    ]

    @Test(arguments: ways)
    func calls(_ way: Way) async throws {
        try await way.connect {
            $0.withAccessToken { "secret" }
        } _: { connection in
            #expect(connection.transport == way.kind)
            let sum: Int = try await connection.invoke("Add", 40, 2)
            #expect(sum == 42)
            try await connection.invoke("Nothing")
            let header: String = try await connection.invoke("Header", "Authorization")
            #expect(header == "Bearer secret")
            let value = HubValue.object([
                "text": .string("é\n\u{1e}\"😀"), "list": .array([.null, .bool(true), .integer(-5), .double(0.25)]),
            ])
            let same: HubValue = try await connection.invoke("Echo", value)
            #expect(same == value)
            let refusal = await signalRError { try await connection.invoke("Refuse", "because") }
            #expect(refusal?.code == .invocationFailed)
            #expect(refusal?.message == "because")
            #expect(await signalRError { try await connection.invoke("Unknown") }?.code == .invocationFailed)
        }
    }

    @Test(arguments: ways)
    func streamsBothWays(_ way: Way) async throws {
        try await way.connect { connection in
            var numbers: [Int] = []
            for try await number in try await connection.stream("Counter", 200, of: Int.self) { numbers.append(number) }
            #expect(numbers == Array(0..<200))
            let failing = try await connection.stream("Failing", 2, of: Int.self)
            var count = 0
            let error = await signalRError { for try await _ in failing { count += 1 } }
            #expect(count == 2)
            #expect(error?.message.contains("Ran out of data!") == true)
            for try await number in try await connection.stream("Endless", of: Int.self) where number == 5 { break }
            // The hub ends its stream after the cancellation, with a delay.
            while try await connection.invoke("Streams_Left", returning: Int.self) == 0 {}
            let upload = AsyncStream { continuation in
                for number in 1...100 { continuation.yield(number) }
                continuation.finish()
            }
            let total: Int = try await connection.invoke("Total", 1000, streams: [ClientStream(upload)])
            #expect(total == 6050)
        }
    }

    @Test(arguments: ways)
    func theHubCalls(_ way: Way) async throws {
        let notes = Transcript<String>()
        let numbers = Transcript<Int>()
        try await way.connect(prepare: { connection in
            connection.on("AddMessage") { (user: String, message: String) in notes.add("\(user): \(message)") }
            connection.on("Number") { (number: Int) in numbers.add(number) }
            connection.on("Answer") { (question: String) -> String in question + "!" }
        }) { connection in
            try await connection.send("Say", "Ada", "Hello")
            #expect(try await notes.next() == "Ada: Hello")
            let answer: String = try await connection.invoke("Ask", "Really")
            #expect(answer == "Really!")
            connection.off("Answer")
            let none: String = try await connection.invoke("Ask", "Really")
            #expect(none == "refused: Client didn't provide a result.")
            try await connection.invoke("Flood", 500)
            for number in 0..<500 { #expect(try await numbers.next() == number) }
        }
    }

    @Test(arguments: ways)
    func aCancelledCallAndALargeMessage(_ way: Way) async throws {
        try await way.connect { connection in
            let task = Task { try await connection.invoke("Slow", returning: Int.self) }
            task.cancel()
            #expect(await signalRError { _ = try await task.value }?.code == .cancelled)
            let text = String(repeating: "é", count: 1 << 19)
            let same: String = try await connection.invoke("Echo", text)
            #expect(same == text)
        }
    }

    @Test(arguments: ways)
    func itIsStartedAgain(_ way: Way) async throws {
        try await Peers.withHub { _, port in
            let connection = way.builder(port).build()
            for _ in 0..<3 {
                try await connection.start()
                let sum: Int = try await connection.invoke("Add", 1, 2)
                #expect(sum == 3)
                await connection.stop()
            }
        }
    }

    @Test(arguments: [false, true])
    func aBrokenConnectionIsReestablished(_ isBinary: Bool) async throws {
        try await Way(kind: .webSockets, isBinary: isBinary).connect {
            $0.withAutoReconnect()
        } _: { connection in
            let events = record(connection)
            let first = connection.connectionID
            try await connection.send("Break_Off")
            #expect(try await events.next() == "will reconnect: connectionLost")
            #expect(try await events.next() == "did reconnect")
            #expect(connection.connectionID != first)
            let sum: Int = try await connection.invoke("Add", 1, 2)
            #expect(sum == 3)
        }
    }

    @Test(arguments: [false, true])
    func aBrokenConnectionIsResumed(_ isBinary: Bool) async throws {
        let numbers = Transcript<Int>()
        try await Way(kind: .webSockets, isBinary: isBinary).connect {
            $0.withStatefulReconnect()
        } prepare: {
            $0.on("Number") { (number: Int) in numbers.add(number) }
        } _: { connection in
            let events = record(connection)
            let first = connection.connectionID
            for round in 0..<3 {
                try await connection.send("Break_Off")
                try await connection.invoke("Flood", 20)
                let sum: Int = try await connection.invoke("Add", round, 2)
                #expect(sum == round + 2)
            }
            for _ in 0..<3 {
                for number in 0..<20 { #expect(try await numbers.next() == number) }
            }
            #expect(numbers.all.count == 60, "none comes twice")
            #expect(connection.connectionID == first)
            #expect(events.all.isEmpty)
        }
    }

    @Test
    func aServerThatIsRestarted() async throws {
        let port = try PortLease.port()
        let connection = patientHub(url: "http://127.0.0.1:\(port)/hub")
            .withAutoReconnect(.forever(every: .milliseconds(200))).build()
        let again = Transcript<Void>()
        connection.onDidReconnect { again.add(()) }
        for round in 1...2 {
            try await Peers.with("server", "hub.py", ["--port", "\(port)"]) { hub in
                try await hub.nextLine(beginningWith: "listening ")
                if round == 1 { try await connection.start() } else { try await again.next() }
                let sum: Int = try await connection.invoke("Add", 1, round)
                #expect(sum == 1 + round)
            }
        }
        await connection.stop()
    }

    @Test
    func theHubEndsTheConnection() async throws {
        try await Self.ways[0].connect { connection in
            let events = record(connection)
            try await connection.send("Hang_Up")
            #expect(try await events.next() == "closed: -")
        }
    }

    @Test(arguments: TransportKind.allCases)
    func overTLS(_ kind: TransportKind) async throws {
        var trusting = TLSConfiguration.makeClientConfiguration()
        trusting.trustRoots = .file("\(Peers.folder)/certificate.pem")
        let tls = trusting
        try await Peers.withHub(isSecure: true) { _, port in
            for host in ["localhost", "127.0.0.1"] {
                let builder = patientHub(url: "https://\(host):\(port)/hub").withTransports(kind)
                try await Peers.withConnection(builder.withOptions { $0.tlsConfiguration = tls }) { connection in
                    let sum: Int = try await connection.invoke("Add", 40, 2)
                    #expect(sum == 42)
                }
                // The system does not trust it.
                let error = await signalRError { try await builder.build().start() }
                #expect(error?.code == .tlsFailed)
                #expect(error?.message.contains("TLS") == true)
            }
        }
        // Nor is it anybody else's.
        try await Peers.withHub(isSecure: true, address: "127.0.0.2") { _, port in
            let other = patientHub(url: "wss://127.0.0.2:\(port)/hub").withoutNegotiation()
                .withOptions { $0.tlsConfiguration = tls }.build()
            let error = await signalRError { try await other.start() }
            #expect(error?.code == .tlsFailed, "\(String(describing: error))")
        }
    }

    @Test(arguments: ["signalrcore", "pysignalr"])
    func othersChatOnTheSameHub(_ name: String) async throws {
        let notes = Transcript<String>()
        try await Peers.withHub { _, port in
            try await Peers.withConnection(
                Self.ways[1].builder(port),
                prepare: { connection in
                    connection.on("AddMessage") { (user: String, message: String) in notes.add("\(user): \(message)") }
                }
            ) { connection in
                try await Peers.with(name, "client_\(name).py", ["http://127.0.0.1:\(port)/hub"]) { other in
                    try await other.nextLine(beginningWith: "open")
                    try await connection.invoke("Say", "Ada", "Hello é")
                    try await other.nextLine(beginningWith: "Ada: Hello é")
                    #expect(try await notes.next() == "Ada: Hello é")
                    try other.writeLine("Hi \"there\"")
                    #expect(try await notes.next() == "\(name): Hi \"there\"")
                }
            }
        }
    }

    @Test
    func valuesAreThoseOfMsgpack() async throws {
        struct Thing: Codable {
            var name = "é"
            var list = [1.5, -2]
            var data = Data([0, 255])
            var flag = true
            var none: Int?
        }
        var values: [any Encodable & Sendable] = [
            nil as Int?, true, false, 1.5, "", "é😀", Data([1, 2, 3]), [UInt64.max], [Int64.min], Thing(),
            ["a": [1, 2]],
            [[Int]](), Array(repeating: 7, count: 70_000), String(repeating: "x", count: 70_000),
            Data(repeating: 1, count: 70_000), Dictionary(uniqueKeysWithValues: (0..<20).map { ("\($0)", $0) }),
        ]
        for power in 0..<63 { values += [1 << power, (1 << power) - 1, -(1 << power), -(1 << power) - 1] as [Int] }
        try await Peers.with("server", "values.py") { peer in
            for value in values {
                var bytes = ByteBuffer()
                try MessagePackNode.encode(value, into: &bytes)
                try peer.writeLine(bytes.hex)
                let line = try await peer.nextLine { $0.contains("\t") }
                // msgpack writes the shortest form too, so they are the same bytes.
                #expect(line.text.split(separator: "\t").last.map(String.init) == bytes.hex)
            }
        }
    }
}
