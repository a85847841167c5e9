import ArgumentParser
import Elemental
import ElementalWire

/// The words between an element's type and its initial value, in any order, each kind once: `0...5:step 0.5:unit m/s:ro`.
///
/// In a unit and in choices a backslash escapes the next character: `\:`, `\=`, `\,`, `\\`.
struct ElementSpecOptions: Sendable {
    static let form =
        "[:LOW...HIGH][:step N][:unit U][:choices A,B…][:udp][:latest][:timed][:history LIMITS][:rw|:ro|:wo][:momentary|:urgent]"
        + "[:readers ROLE][:writers ROLE]"

    private(set) var transport: Transport?
    private(set) var access: Access?
    private(set) var latest = false
    private(set) var timed = false
    private(set) var history: HistoryLimits?
    private(set) var range: ClosedRange<Double>?
    private(set) var step: Double?
    private(set) var unit: String?
    private(set) var choices: [ElementChoice]?
    private(set) var readers: Role?
    private(set) var writers: Role?
    private(set) var kind: ElementKind?

    init(_ words: some Sequence<Substring>, of type: ElementType) throws {
        for word in words {
            let argument = word.drop { $0 != " " }.dropFirst().withoutBlanks
            switch word.prefix(while: { $0 != " " }) {
            case "udp" where word == "udp": try set(\.transport, .udp, word)
            case "tcp" where word == "tcp": try set(\.transport, .tcp, word)
            case "rw" where word == "rw": try set(\.access, .readWrite, word)
            case "ro" where word == "ro": try set(\.access, .read, word)
            case "wo" where word == "wo": try set(\.access, .write, word)
            case "momentary" where word == "momentary": try set(\.kind, .momentary, word)
            case "urgent" where word == "urgent": try set(\.kind, .urgent, word)
            case "latest" where word == "latest":
                guard !latest else { throw Self.repeated(word) }
                latest = true
            case "timed" where word == "timed":
                guard !timed else { throw Self.repeated(word) }
                timed = true
            case "history": try set(\.history, try Self.history(argument, in: word), word)
            case "step": try set(\.step, try Self.number(argument, type, in: word), word)
            case "unit":
                guard !argument.isEmpty else { throw ValidationError(word, "needs a unit, such as 'unit m/s'") }
                try set(\.unit, argument.unescaped, word)
            case "readers": try set(\.readers, try Self.role(argument, in: word), word)
            case "writers": try set(\.writers, try Self.role(argument, in: word), word)
            case "choices": try set(\.choices, try Self.choices(argument, type, in: word), word)
            default:
                guard let dots = word.firstRange(of: "...") else {
                    throw ValidationError(
                        word,
                        "is unknown; give udp, latest, timed, rw, ro, wo, momentary, urgent, LOW...HIGH, 'step N', 'unit U', "
                            + "'history LIMITS', 'choices A,B…', 'readers ROLE' or 'writers ROLE'")
                }
                // A vector's range is that of each component, which is a float.
                let boundType: ElementType = type.isVector ? .float : type
                let lower = try Self.number(word[..<dots.lowerBound], boundType, in: word)
                let upper = try Self.number(word[dots.upperBound...], boundType, in: word)
                guard lower <= upper else { throw ValidationError(word, "is an inverted range; write LOW...HIGH") }
                try set(\.range, lower...upper, word)
            }
        }
    }

    private mutating func set<Value>(
        _ option: WritableKeyPath<Self, Value?>, _ value: Value, _ word: Substring
    ) throws {
        guard self[keyPath: option] == nil else { throw Self.repeated(word) }
        self[keyPath: option] = value
    }

    private static func repeated(_ word: Substring) -> ValidationError {
        ValidationError(word, "is a second option of its kind; give only one")
    }

    /// Parses the limits of a history: a number of values, a time and a size, in any order, as in `24h 1000 4MB`.
    static func history(_ text: Substring, in word: Substring) throws -> HistoryLimits {
        var (count, seconds, byteCount) = (Int?.none, Int?.none, Int?.none)
        func set(_ limit: inout Int?, _ number: Int) throws {
            guard limit == nil else { throw repeated(word) }
            guard (1...Int(UInt32.max)).contains(number) else {
                throw ValidationError(word, "has a limit that is not from 1 to \(UInt32.max)")
            }
            limit = number
        }
        for part in text.split(separator: " ") {
            if let number = Int(part) {
                try set(&count, number)
            } else if let time = TimeSpan(argument: String(part)) {
                try set(&seconds, Int(time.duration / .seconds(1)))
            } else if let unit = [("kB", 1000), ("MB", 1_000_000)].first(where: { part.hasSuffix($0.0) }),
                let number = Int(part.dropLast(2)), (1..<1 << 32).contains(number)
            {
                try set(&byteCount, number * unit.1)
            } else {
                throw ValidationError(part, "is not a limit of a history, such as 24h, 1000 (values) or 4MB")
            }
        }
        return HistoryLimits(count: count, seconds: seconds, byteCount: byteCount ?? 16 << 20)
    }

    private static func role(_ text: Substring, in word: Substring) throws -> Role {
        guard let role = Role(rawValue: String(text)) else {
            throw ValidationError(word, "needs a role: \(Role.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return role
    }

    /// A bound or step with the precision of the type: 0.1 as a `float` differs from 0.1 as a `double`.
    private static func number(_ text: Substring, _ type: ElementType, in word: Substring) throws -> Double {
        guard type.isNumeric else { throw ValidationError(word, "means nothing for type \(type); leave it out") }
        guard !text.isEmpty else { throw ValidationError(word, "lacks a number, as in '0...10' or 'step 0.5'") }
        let value: ElementValue
        do {
            value = try ElementValue(text: String(text), type: type)
        } catch {
            throw ValidationError(word, "is invalid: \(error.message)")
        }
        guard let number = value.numericValue, number.isFinite else {
            throw ValidationError(text, "is not a finite number")
        }
        return number
    }

    /// Parses texts, or numbers with names: `0 off,1 on`. A name without a number gets the number after that of the
    /// previous choice, the first one 0. A number without a name is its own name.
    private static func choices(
        _ text: Substring, _ type: ElementType, in word: Substring
    ) throws -> [ElementChoice] {
        guard type.takesChoices else { throw ValidationError(word, "means nothing for type \(type); leave it out") }
        var choices: [ElementChoice] = []
        var next: Int128 = 0
        // Splits only as far as is needed to detect too many choices.
        for part in text.splitUnescaped(at: ",", maxSplits: ElementChoice.maximumCount + 1) {
            let part = part.withoutBlanks
            guard !part.isEmpty else { throw ValidationError(word, "lacks a choice, as in 'choices off,on'") }
            guard type != .string else {
                choices.append(ElementChoice(part.unescaped))
                continue
            }
            let first = part.prefix { $0 != " " }
            var name = part
            if let number = try? ElementValue(text: String(first), type: type) {
                next = Int128(number.description) ?? 0
                name = part[first.endIndex...].withoutBlanks
                if name.isEmpty { name = first }
            }
            do {
                choices.append(ElementChoice(try ElementValue(text: "\(next)", type: type), name.unescaped))
            } catch {
                throw ValidationError(part, "has the number \(next), which does not fit \(type)")
            }
            next += 1
        }
        return choices
    }
}

extension Substring {
    /// The parts between separators that have no backslash before them. There is at least one part, which may be empty.
    func splitUnescaped(at separator: Character, maxSplits: Int = .max) -> [Substring] {
        var parts: [Substring] = []
        var start = startIndex
        var isEscaped = false
        for index in indices {
            if parts.count == maxSplits { break }
            if isEscaped {
                isEscaped = false
            } else if self[index] == "\\" {
                isEscaped = true
            } else if self[index] == separator {
                parts.append(self[start..<index])
                start = self.index(after: index)
            }
        }
        return parts + [self[start...]]
    }

    /// The text with its backslash escapes resolved.
    fileprivate var unescaped: String {
        var text = ""
        var isEscaped = false
        for character in self {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                text.append(character)
                isEscaped = false
            }
        }
        return text
    }
}
