import Foundation
import Support

/// A message as mosquitto_sub printed it.
public struct BrokerMessage: Sendable, Equatable {
    public let topic: String
    public let payload: [UInt8]
    /// Whether the broker had retained it, as opposed to one that was published since.
    public let wasRetained: Bool
    /// The QoS with which it was delivered.
    public let qos: Int

    public var text: String { String(decoding: payload, as: UTF8.self) }
}

/// All that a broker has under a filter, as mosquitto_sub sees it.
public final class TopicWatch: Sendable {
    private struct State {
        var readLineCount = 0
        var messages: [BrokerMessage] = []
        /// By topic: the index of the message with which the last wait for it ended.
        var reached: [String: Int] = [:]
    }

    private let child: ChildProcess
    private let state = Locked(State())

    private init(_ child: ChildProcess) { self.child = child }

    /// Watches topics during the body, which begins when the subscription holds.
    public static func with<Result>(
        port: Int, _ filters: [String] = ["#"], login: [String] = [], isolation: isolated (any Actor)? = #isolation,
        _ body: (TopicWatch) async throws -> Result
    ) async throws -> Result {
        let mark = "tests/\(UUID().uuidString.lowercased())"
        let arguments = MosquittoClient.arguments(port, login) + ["-q", "1", "-F", "%r %q %t %x", "-t", mark]
        return try await ChildProcess.with("mosquitto_sub", arguments + filters.flatMap { ["-t", $0] }) { child in
            let watch = TopicWatch(child)
            // More than once: amqtt loses one that comes while the subscription is made.
            for attempt in 1...10 {
                try await MosquittoClient.publish(port: port, mark, "here", login: login)
                if (try? await watch.wait(for: mark, within: .milliseconds(attempt * 200), where: { !$0.isEmpty }))
                    != nil
                {
                    return try await body(watch)
                }
            }
            throw TestSupportError("the subscription does not come about: \(child.transcript)")
        }
    }

    public var messages: [BrokerMessage] {
        state.withLock { state in
            let lines = child.lines(of: .output)
            state.messages += lines[state.readLineCount...].compactMap(Self.message)
            state.readLineCount = lines.count
            return state.messages
        }
    }

    public func messages(of topic: String) -> [BrokerMessage] { messages.filter { $0.topic == topic } }

    public func newest(of topic: String) -> BrokerMessage? { messages.last { $0.topic == topic } }

    /// The newest message of each topic. Topics that were emptied are left out.
    public var topics: [String: BrokerMessage] {
        Dictionary(messages.map { ($0.topic, $0) }) { $1 }.filter { !$0.value.payload.isEmpty }
    }

    /// Waits for a message of a topic: the first that matches, from the one on with which the last wait for this topic ended.
    /// Brokers keep the order of one topic, and none between two.
    @discardableResult
    public func wait(
        for topic: String, within timeout: Duration = Patience.wait, fileID: String = #fileID, line: Int = #line,
        where isWanted: (String) -> Bool
    ) async throws -> BrokerMessage {
        try await wait(within: timeout, "\(topic), as it should be", fileID: fileID, line: line) { watch in
            let messages = watch.messages
            let start = watch.state.withLock { $0.reached[topic] } ?? 0
            guard
                let index = messages.indices.dropFirst(start)
                    .first(where: { messages[$0].topic == topic && isWanted(messages[$0].text) })
            else { return nil }
            watch.state.withLock { $0.reached[topic] = index }
            return messages[index]
        }
    }

    @discardableResult
    public func wait(
        for topic: String, toBe text: String, within timeout: Duration = Patience.wait, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> BrokerMessage {
        try await wait(for: topic, within: timeout, fileID: fileID, line: line) { $0 == text }
    }

    @discardableResult
    public func wait<Value>(
        within timeout: Duration = Patience.wait, _ what: String, fileID: String = #fileID, line: Int = #line,
        _ find: (TopicWatch) -> Value?
    ) async throws -> Value {
        var value: Value?
        do {
            try await eventually(what, within: timeout, every: .milliseconds(10), fileID: fileID, line: line) {
                // No reason to wait on when the process has ended.
                let isOver = !child.isRunning
                value = find(self)
                return value != nil || isOver
            }
        } catch {
            throw TestSupportError("\(error)\n\(report)")
        }
        guard let value else { throw TestSupportError("\(fileID):\(line): \(what) did not come\n\(report)") }
        return value
    }

    private var report: String {
        let all = messages.suffix(60).map { "\($0.wasRetained ? "retained " : "")\($0.topic) \($0.text.prefix(400))" }
        return (all + child.lines(of: .error)).joined(separator: "\n")
    }

    private static func message(in line: String) -> BrokerMessage? {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, let qos = Int(words[1]) else { return nil }
        let digits = Array(words[3].utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
        return BrokerMessage(topic: String(words[2]), payload: bytes, wasRetained: words[0] == "1", qos: qos)
    }
}

/// What Debian's mosquitto_pub does.
public enum MosquittoClient {
    static func arguments(_ port: Int, _ login: [String]) -> [String] {
        // With an identifier of its own: amqtt takes all clients without one for the same.
        ["-V", "mqttv311", "-p", "\(port)", "-i", "test-\(UUID().uuidString.prefix(12).lowercased())"] + login
    }

    /// Publishes a message with QoS 1, and returns when the broker has it. `login` are further arguments.
    public static func publish(
        port: Int, _ topic: String, _ text: String, isRetained: Bool = false, login: [String] = []
    ) async throws {
        let payload = text.isEmpty ? ["-n"] : ["-m", text]
        try await publish(arguments(port, login) + ["-q", "1", "-t", topic] + (isRetained ? ["-r"] : []) + payload)
    }

    public static func publish(port: Int, _ topic: String, bytes: [UInt8], isRetained: Bool = false) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "payload-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await publish(
            arguments(port, []) + ["-q", "1", "-t", topic, "-f", file.path] + (isRetained ? ["-r"] : []))
    }

    private static func publish(_ arguments: [String]) async throws {
        for attempt in 1... {
            let (status, transcript) = try await ChildProcess.with("mosquitto_pub", arguments) { child in
                (try await child.waitForExit(), child.transcript)
            }
            if status == .exited(0) { return }
            // A lost connection: amqtt closes one while another client subscribes ("dictionary changed size").
            guard status == .exited(7), attempt < 5 else {
                throw TestSupportError("it ended with \(status): \(transcript)")
            }
        }
    }
}
