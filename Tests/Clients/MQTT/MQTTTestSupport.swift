import NIOCore
import Support
import TestSupport
import Testing

@testable import MQTT

/// The error that a body throws.
func refusal(_ body: () throws -> Void) -> MQTTError? {
    do {
        try body()
        return nil
    } catch {
        return error as? MQTTError
    }
}

/// The error that a body throws.
func mqttError(_ body: () async throws -> Void) async -> MQTTError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? MQTTError
    }
}

/// The error with which a client ends.
func errorOfRun(_ url: String, _ options: MQTTOptions) async throws -> MQTTError? {
    let client = MQTTClient(try MQTTAddress(url), options: options)
    return await mqttError { try await client.run() }
}

extension MQTTTopic {
    /// A topic of a test.
    init(valid name: String) {
        do { self = try MQTTTopic(name) } catch { fatalError("\(error)") }
    }
}

/// What happens to a client, and what it receives.
final class Record: Sendable {
    private let events = Locked<[MQTTEvent]>([])
    private let messages = Locked<[MQTTMessage]>([])

    init(_ client: MQTTClient) {
        client.onEvent { event in self.events.withLock { $0.append(event) } }
        client.onMessage { message in self.messages.withLock { $0.append(message) } }
    }

    var allMessages: [MQTTMessage] { messages.withLock { $0 } }
    /// Topic and text of every message.
    var texts: [String] { allMessages.map { "\($0.topic)=\(String(buffer: $0.payload))" } }
    var connections: Int { names.count { $0 == "connected" } }
    /// The errors after which an attempt followed, with its number and delay.
    var retries: [(attempt: Int, delay: Duration, error: MQTTError)] {
        events.withLock {
            $0.compactMap {
                if case .willReconnect(let attempt, let delay, let error) = $0 { (attempt, delay, error) } else { nil }
            }
        }
    }
    /// The names of all events.
    var names: [String] {
        events.withLock {
            $0.map { event in
                switch event {
                case .connected: "connected"
                case .willReconnect(let attempt, _, let error): "will reconnect \(attempt): \(error.code)"
                case .subscriptionsRefused(let filters): "refused \(filters)"
                case .ended(let error): "ended: \(error.map { "\($0.code)" } ?? "-")"
                }
            }
        }
    }
}

/// Options for tests: attempts follow each other fast.
func testOptions(_ change: (inout MQTTOptions) -> Void = { _ in }) -> MQTTOptions {
    var options = MQTTOptions()
    options.reconnection = EndlessDelays(every: .milliseconds(20))
    // Scripted brokers answer no pings.
    options.keepAlive = Patience.wait * 9
    change(&options)
    return options
}

/// Options for tests in which nothing is tried again.
func once(_ change: (inout MQTTOptions) -> Void = { _ in }) -> MQTTOptions {
    testOptions {
        $0.reconnection = nil
        change(&$0)
    }
}

/// Runs a client during the body, and stops it afterwards.
///
/// - Parameter waits: whether to wait until it is connected.
func withClient<Result>(
    _ url: String, _ options: MQTTOptions = testOptions(), waits: Bool = true,
    isolation: isolated (any Actor)? = #isolation, _ body: (MQTTClient, Record) async throws -> Result
) async throws -> Result {
    let client = MQTTClient(try MQTTAddress(url), options: options)
    let record = Record(client)
    let running = Task { try await client.run() }
    return try await carryOut {
        if waits { try await eventually("connected: \(record.names)") { client.isConnected } }
        return try await body(client, record)
    } finally: {
        client.stop()
        _ = await running.result
    }
}

extension ScriptedBroker {
    /// Runs a client during the body, which gets its first connection.
    func withSession<Result>(
        _ options: MQTTOptions = testOptions(), isolation: isolated (any Actor)? = #isolation,
        _ body: (MQTTClient, Record, BrokerPeer) async throws -> Result
    ) async throws -> Result {
        try await withClient(url, options, waits: false) { client, record in
            let peer = try await session()
            defer { peer.close() }
            try await eventually("connected: \(record.names)") { client.isConnected }
            return try await body(client, record, peer)
        }
    }
}

extension MosquittoBroker {
    /// The address for clients.
    var url: String { "\(certificates == nil ? "mqtt" : "mqtts")://127.0.0.1:\(port)" }
}

/// `#expect` for values of calls that change something, which it cannot make.
func expect<Value: Equatable>(
    _ value: Value, _ expected: Value, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(value == expected, comment, sourceLocation: sourceLocation)
}

func expect(_ isTrue: Bool, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(isTrue, comment, sourceLocation: sourceLocation)
}
