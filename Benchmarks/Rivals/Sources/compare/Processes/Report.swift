import Foundation

/// A line of JSON that a contender printed.
struct Report {
    private let object: [String: Any]

    init?(_ line: String) {
        let value = try? JSONSerialization.jsonObject(with: Data(line.utf8))
        guard let object = value as? [String: Any] else { return nil }
        self.object = object
    }

    func has(_ field: String) -> Bool { object[field] != nil }

    /// The number in this field.
    func number(_ field: String) throws -> Double {
        guard let number = (object[field] as? NSNumber)?.doubleValue else {
            throw CompareError("an answer tells no \(field)")
        }
        return number
    }

    func text(_ field: String) -> String? { object[field] as? String }
}
