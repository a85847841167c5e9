/// The name of a service or of an instance, compared as DNS compares names (RFC 6762, section 16): without regard to
/// the case of ASCII letters, all other bytes exactly.
package struct ComparableName: Hashable, Comparable, Sendable {
    private let bytes: [UInt8]

    package init(_ name: some StringProtocol) { bytes = name.utf8.map(Self.folded) }

    /// The name with its ASCII letters in lower case.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package static func < (one: Self, other: Self) -> Bool { one.bytes.lexicographicallyPrecedes(other.bytes) }

    fileprivate static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension StringProtocol {
    /// Whether both are the same name to ``ComparableName``, without a copy.
    package func isSameName(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { ComparableName.folded($0) == ComparableName.folded($1) }
    }
}
