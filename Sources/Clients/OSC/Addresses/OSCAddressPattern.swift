/// A pattern of OSC addresses: `?` stands for a character, `*` for any number of them, `[a-z]` for one of these and
/// `[!a-z]` for one of the others, `{up,down}` for one of these texts. None of them stands for a slash.
///
/// Each level is a small machine, all of whose states are followed at the same time: matching takes at most as many steps
/// as the pattern has parts, for each character of the address. There is no input that takes more.
public struct OSCAddressPattern: Sendable {
    /// The longest level that is understood, in bytes.
    public static let longestLevel = 256

    /// The levels between the slashes.
    public let levels: [Level]

    /// Reads a pattern; `nil` if it is not valid, or a level is too long.
    public init?(_ address: String) {
        let parts = address.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard (2...4).contains(parts.count), parts[0].isEmpty else { return nil }
        levels = parts.dropFirst().compactMap { $0.count <= Self.longestLevel ? Level(Array($0)) : nil }
        guard levels.count == parts.count - 1 else { return nil }
    }

    /// Whether a text may be a pattern, and not an address alone.
    public static func isPattern(_ address: String) -> Bool {
        address.utf8.contains { "*?[{".utf8.contains($0) }
    }

    /// A level of a pattern.
    public struct Level: Sendable {
        private enum Step: Sendable {
            /// Takes a character that is in one of the ranges, or in none of them, and goes on with the next step.
            case take([ClosedRange<UInt8>], isInverted: Bool = false)
            static let takeAny = take([], isInverted: true)
            /// Goes on with the next step and with that one.
            case split(Int)
            /// Goes on with that step.
            case jump(Int)
        }

        private var steps: [Step] = []

        /// How many steps matching takes for each character, at most.
        public var stepCount: Int { steps.count + 1 }

        fileprivate init?(_ pattern: [UInt8]) {
            var position = 0
            while position < pattern.count {
                switch pattern[position] {
                case UInt8(ascii: "*"):
                    // Two in a row are one.
                    while position + 1 < pattern.count, pattern[position + 1] == UInt8(ascii: "*") { position += 1 }
                    let start = steps.count
                    steps += [.split(start + 3), .takeAny, .jump(start)]
                    position += 1
                case UInt8(ascii: "?"):
                    steps.append(.takeAny)
                    position += 1
                case UInt8(ascii: "["):
                    guard let end = pattern[position...].firstIndex(of: UInt8(ascii: "]")),
                        let step = Self.step(pattern[(position + 1)..<end])
                    else { return nil }
                    steps.append(step)
                    position = end + 1
                case UInt8(ascii: "{"):
                    guard let end = pattern[position...].firstIndex(of: UInt8(ascii: "}")) else { return nil }
                    add(
                        pattern[(position + 1)..<end].split(
                            separator: UInt8(ascii: ","), omittingEmptySubsequences: false))
                    position = end + 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): return nil
                default:
                    steps.append(.take([pattern[position]...pattern[position]]))
                    position += 1
                }
            }
        }

        private static func step(_ list: ArraySlice<UInt8>) -> Step? {
            var list = list
            let isInverted = list.first == UInt8(ascii: "!")
            if isInverted { list.removeFirst() }
            guard !list.isEmpty else { return nil }
            var ranges: [ClosedRange<UInt8>] = []
            while let first = list.popFirst() {
                var last = first
                // A hyphen at the end is one.
                if list.first == UInt8(ascii: "-"), list.count > 1 {
                    last = list[list.startIndex + 1]
                    list.removeFirst(2)
                }
                ranges.append(min(first, last)...max(first, last))
            }
            return Step.take(ranges, isInverted: isInverted)
        }

        private mutating func add(_ texts: [ArraySlice<UInt8>]) {
            var jumps: [Int] = []
            for (number, text) in texts.enumerated() {
                let split = steps.count
                let isLast = number == texts.count - 1
                if !isLast { steps.append(.split(0)) }
                for byte in text { steps.append(.take([byte...byte])) }
                if !isLast {
                    jumps.append(steps.count)
                    steps.append(.jump(0))
                    steps[split] = .split(steps.count)
                }
            }
            for jump in jumps { steps[jump] = .jump(steps.count) }
        }

        /// Whether the pattern stands for a level of an address.
        public func matches(_ text: some StringProtocol) -> Bool {
            // Which steps the machine is at.
            var active = [Bool](repeating: false, count: steps.count + 1)
            var next = active
            follow(0, &active)
            for byte in text.utf8 {
                var isStuck = true
                for position in next.indices { next[position] = false }
                for position in steps.indices where active[position] {
                    guard case .take(let ranges, let isInverted) = steps[position],
                        ranges.contains(where: { $0.contains(byte) }) != isInverted
                    else { continue }
                    follow(position + 1, &next)
                    isStuck = false
                }
                if isStuck { return false }
                swap(&active, &next)
            }
            return active[steps.count]
        }

        /// Adds a step and those that follow from it without taking a character.
        private func follow(_ first: Int, _ active: inout [Bool]) {
            var waiting = [first]
            while let position = waiting.popLast() {
                guard !active[position] else { continue }
                active[position] = true
                guard position < steps.count else { continue }
                switch steps[position] {
                case .take: break
                case .split(let other): waiting += [other, position + 1]
                case .jump(let other): waiting.append(other)
                }
            }
        }
    }
}
