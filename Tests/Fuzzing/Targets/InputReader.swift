/// Reads an input from its front. At its end it gives zeros and less than was asked for.
struct InputReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ input: UnsafeRawBufferPointer) { rest = input[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// At most so many bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func bytes() -> [UInt8] { bytes(rest.count) }
}
