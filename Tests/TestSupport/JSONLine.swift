import Foundation

/// A line of JSON output.
public struct JSONLine: @unchecked Sendable {
    // Foundation's property-list objects, never mutated after parsing.
    private let object: [String: Any]
    /// Its place among the lines of a process's output.
    public let place: TranscriptPlace

    public init?(_ line: String, at place: TranscriptPlace = .start) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            return nil
        }
        self.object = object
        self.place = place
    }

    public var event: String? { self["event"] }

    /// A member, if it has the given type.
    public subscript<Value>(key: String) -> Value? { object[key] as? Value }

    public func number(_ key: String) -> Double? { (object[key] as? NSNumber)?.doubleValue }
}

extension ChildProcess {
    /// Takes the first line of JSON with that event, as ``nextLine(of:after:within:_:fileID:line:where:)`` does.
    @discardableResult
    public func nextEvent(
        _ event: String, after place: TranscriptPlace? = nil, within timeout: Duration = Patience.wait,
        fileID: String = #fileID, line: Int = #line,
        where isWanted: @escaping @Sendable (JSONLine) -> Bool = { _ in true }
    ) async throws -> JSONLine {
        let found = try await nextLine(
            after: place, within: timeout, "the event \"\(event)\"", fileID: fileID, line: line
        ) { line in
            // Most lines are others, and parsing takes a hundred times as long as looking for the name.
            guard line.contains("\"\(event)\""), let json = JSONLine(line), json.event == event else { return false }
            return isWanted(json)
        }
        guard let json = JSONLine(found.text, at: found.place) else { throw TestSupportError("no JSON: \(found)") }
        return json
    }
}
