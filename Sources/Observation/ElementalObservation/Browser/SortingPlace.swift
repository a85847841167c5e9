/// Where a service is in a list: by name as people sort, then by the name as it is, and by the service's name. No two
/// services have the same.
struct SortingPlace: Comparable {
    private enum Part: Comparable {
        // Numbers come before texts. One that is too large for an integer is compared by its digits.
        case number(digitCount: Int, String)
        case text(String)
    }

    /// The name as people sort it: "rover 2" before "Rover 10".
    private var parts: [Part] = []
    private let name: String
    private let service: String

    init(name: String, service: String) {
        self.name = name
        self.service = service
        var rest = name.lowercased()[...]
        while let first = rest.first {
            let isNumber = Self.isDigit(first)
            let part = rest.prefix { Self.isDigit($0) == isNumber }
            rest = rest.dropFirst(part.count)
            let digits = part.drop { $0 == "0" }
            parts.append(isNumber ? .number(digitCount: digits.count, String(digits)) : .text(String(part)))
        }
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

    static func < (a: SortingPlace, b: SortingPlace) -> Bool {
        a.parts == b.parts
            ? (a.name, a.service) < (b.name, b.service) : a.parts.lexicographicallyPrecedes(b.parts)
    }
}
