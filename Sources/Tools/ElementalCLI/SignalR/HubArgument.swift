import Elemental
import SignalR

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An argument of a hub's method as it is typed: JSON, or a text without quotes.
struct HubArgument: Sendable {
    let value: HubValue

    /// What is wrong with a spelling, in words.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads an argument. What is no JSON is a text, unless it begins as an array, an object or a quoted text does.
    init(parsing text: String) throws(Problem) {
        if let value = try? JSONDecoder().decode(HubValue.self, from: Data(text.utf8)) {
            self.value = value
            return
        }
        if let first = text.first, "[{\"".contains(first) {
            throw Problem(
                description:
                    "'\(text.excerpt)' begins like JSON but is not valid; a shell needs it in single quotes, and a text "
                    + "that is meant so in double ones within them")
        }
        // JSON too, but for its size: a text would be something else than was meant.
        if let number = Double(text), !number.isFinite, text.utf8.last.map({ (0x30...0x39).contains($0) }) == true {
            throw Problem(
                description: "the number '\(text.excerpt)' is too large; if a text is meant, it goes in double quotes")
        }
        value = .string(text)
    }
}

extension HubValue {
    /// The value in JSON, an object's members by name; data in base64, as hubs have it.
    var json: JSONText {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .integer(let number): .number(String(number))
        case .unsigned(let number): .number(String(number))
        case .double(let number): JSONText(number)
        case .decimal(let number): .number(number.description)
        case .string(let text): .string(text)
        case .data(let data): .string(data.base64EncodedString())
        case .array(let values): .array(values.map(\.json))
        case .object(let members): .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })
        }
    }
}
