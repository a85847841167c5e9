import Foundation

/// A line of JSON output.
public struct JSONLine: @unchecked Sendable {
    // Foundation's property-list objects, never mutated after parsing.
    private let object: [String: Any]

    public init?(_ line: String) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            return nil
        }
        self.object = object
    }

    /// The event.
    public var event: String? { self["event"] }

    /// A member, if it has the given type.
    public subscript<Value>(key: String) -> Value? { object[key] as? Value }

    /// A number.
    public func number(_ key: String) -> Double? { (object[key] as? NSNumber)?.doubleValue }
}

extension ChildProcess {
    /// The next line of JSON with that event.
    @discardableResult
    public func nextEvent(
        _ event: String, timeout: Duration = .seconds(90),
        where isWanted: @escaping @Sendable (JSONLine) -> Bool = { _ in true }
    ) async throws -> JSONLine {
        let line = try await nextLine(timeout: timeout, "the event \"\(event)\"") { line in
            guard let json = JSONLine(line), json.event == event else { return false }
            return isWanted(json)
        }
        guard let json = JSONLine(line) else { throw TestSupportError("no JSON: \(line)") }
        return json
    }

    /// Waits for a line of JSON with that event, and skips none: for events that come in any order.
    public func waitForEvent(_ event: String, timeout: Duration = .seconds(90)) async throws {
        try await waitForLine(timeout: timeout, "the event \"\(event)\"") { JSONLine($0)?.event == event }
    }
}
