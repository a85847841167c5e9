/// Reads an input from its front. At its end it gives zeros and less than was asked for.
struct InputReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ input: UnsafeRawBufferPointer) { rest = input[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func bytes() -> [UInt8] { bytes(rest.count) }
}

extension [UInt8] {
    /// Copies of exactly these bytes, so that reading past one is found by the address sanitizer.
    func pieces(of size: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
