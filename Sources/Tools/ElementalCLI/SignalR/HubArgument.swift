import ArgumentParser
import Elemental
import SignalR
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An argument of a hub's method from the command line: JSON, or text without quotes.
struct HubArgument: Sendable {
    let value: HubValue

    /// Parses an argument. Anything that is not JSON is text, unless it begins like an array, an object or a JSON string.
    init(parsing text: String) throws(ValidationError) {
        if let value = try? JSONDecoder().decode(HubValue.self, from: Data(text.utf8)) {
            self.value = value
            return
        }
        if let first = text.first, "[{\"".contains(first) {
            throw ValidationError(
                "'\(text.excerpt)' begins like JSON but is not valid; put JSON in single quotes for the shell, and text "
                    + "that begins like this in double quotes within them")
        }
        // JSON as well, except for its size: taking it as text would be a surprise.
        if let number = Double(text), !number.isFinite, text.utf8.last.map({ (0x30...0x39).contains($0) }) == true {
            throw ValidationError(
                "the number '\(text.excerpt)' is too large; if you mean text, put it in double quotes")
        }
        value = .string(text)
    }
}

extension HubValue {
    /// The value as JSON, with an object's members sorted by name, and data in base64 as in a hub's messages.
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
