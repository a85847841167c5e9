@testable import ElementalWire

/// A value that can be read is the same bytes when it is written again, and its text can be read.
enum ValueTarget: FuzzTarget {
    static let name = "value"

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        ElementType.allCases.flatMap { type in frames.streams.map { [type.rawValue] + $0.dropFirst(5) } }
    }

    /// The first byte says which type.
    static func run(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        guard let type = ElementType(rawValue: reader.byte()) else { return }
        let bytes = reader.bytes()
        guard let value = bytes.withUnsafeBytes({ ElementValue(wireBytes: $0, type: type) }) else { return }
        check(value.type == type, "a \(type) that is a \(value.type)")
        let again = value.wireBytes
        check(again == bytes, "a \(type) that changes: \(bytes) is \(again)")
    }
}
