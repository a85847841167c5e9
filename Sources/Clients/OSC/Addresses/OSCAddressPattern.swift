/// A pattern of OSC addresses: `?` matches one character, `*` any number of them, `[a-z]` one of these, `[!a-z]` one of
/// the others, `{up,down}` one of these texts. None of them matches a slash.
///
/// Matching follows all positions at which a part of the pattern may end at the same time. Whatever the input, it takes
/// at most as many steps as the pattern has characters, for each character of the address.
public struct OSCAddressPattern: Sendable {
    /// The maximum length of a level, in bytes.
    public static let longestLevel = 256

    /// The levels between the slashes.
    public let levels: [Level]

    /// Parses a pattern of one to three levels. The result is `nil` if the pattern is not valid or a level is too long.
    public init?(_ address: String) {
        let parts = address.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard (2...4).contains(parts.count), parts[0].isEmpty else { return nil }
        levels = parts.dropFirst().compactMap { $0.count <= Self.longestLevel ? Level(Array($0)) : nil }
        guard levels.count == parts.count - 1 else { return nil }
    }

    /// Returns whether an address contains wildcards.
    public static func isPattern(_ address: String) -> Bool {
        address.utf8.contains { "*?[{".utf8.contains($0) }
    }

    /// A level of a pattern.
    public struct Level: Sendable {
        private enum Part: Sendable {
            /// Any number of characters.
            case any
            /// A character that is in one of the ranges, or in none of them.
            case one([ClosedRange<UInt8>], isInverted: Bool)
            /// One of these texts.
            case texts([ArraySlice<UInt8>])
        }

        private var parts: [Part] = []

        /// The maximum number of steps that matching takes for each character.
        public let stepCount: Int

        fileprivate init?(_ pattern: [UInt8]) {
            stepCount = pattern.count + 1
            var rest = pattern[...]
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "*"): parts.append(.any)
                case UInt8(ascii: "?"): parts.append(.one([], isInverted: true))
                case UInt8(ascii: "["):
                    guard let end = rest.firstIndex(of: UInt8(ascii: "]")), let part = Self.part(rest[..<end])
                    else { return nil }
                    parts.append(part)
                    rest = rest[(end + 1)...]
                case UInt8(ascii: "{"):
                    guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else { return nil }
                    parts.append(
                        .texts(rest[..<end].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)))
                    rest = rest[(end + 1)...]
                case UInt8(ascii: "]"), UInt8(ascii: "}"): return nil
                default: parts.append(.texts([[byte]]))
                }
            }
        }

        private static func part(_ list: ArraySlice<UInt8>) -> Part? {
            var list = list
            let isInverted = list.first == UInt8(ascii: "!")
            if isInverted { list.removeFirst() }
            guard !list.isEmpty else { return nil }
            var ranges: [ClosedRange<UInt8>] = []
            while let first = list.popFirst() {
                var last = first
                // A hyphen at the end stands for itself.
                if list.first == UInt8(ascii: "-"), list.count > 1 {
                    last = list[list.startIndex + 1]
                    list.removeFirst(2)
                }
                ranges.append(min(first, last)...max(first, last))
            }
            return .one(ranges, isInverted: isInverted)
        }

        /// Returns whether the pattern matches a level of an address.
        public func matches(_ text: some StringProtocol) -> Bool {
            let text = Array(text.utf8)
            // The positions in the text at which the parts looked at so far may end.
            var ends = [true] + [Bool](repeating: false, count: text.count)
            for part in parts {
                var next = [Bool](repeating: false, count: ends.count)
                switch part {
                case .any: for end in (ends.firstIndex(of: true) ?? ends.count)..<ends.count { next[end] = true }
                case .one(let ranges, let isInverted):
                    for end in text.indices where ends[end] {
                        next[end + 1] = ranges.contains { $0.contains(text[end]) } != isInverted
                    }
                case .texts(let texts):
                    for end in ends.indices where ends[end] {
                        for choice in texts where text[end...].starts(with: choice) { next[end + choice.count] = true }
                    }
                }
                guard next.contains(true) else { return false }
                ends = next
            }
            return ends[text.count]
        }
    }
}
