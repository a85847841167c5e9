/// A name as people sort it: "rover 2" before "Rover 10".
struct SortingName: Comparable {
    private enum Part: Comparable {
        // Numbers come before texts. One that is too large for an integer is compared by its digits.
        case number(digitCount: Int, String)
        case text(String)
    }

    private var parts: [Part] = []

    init(_ name: String) {
        var rest = name.lowercased()[...]
        while let first = rest.first {
            let isNumber = Self.isDigit(first)
            let part = rest.prefix { Self.isDigit($0) == isNumber }
            rest = rest.dropFirst(part.count)
            if isNumber {
                let digits = part.drop { $0 == "0" }
                parts.append(.number(digitCount: digits.count, String(digits)))
            } else {
                parts.append(.text(String(part)))
            }
        }
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

    static func < (a: SortingName, b: SortingName) -> Bool { a.parts.lexicographicallyPrecedes(b.parts) }
}
