/// Times of both ends' clocks, in the system element ``SystemElement/clock``.
///
/// `kind UInt8 · nonce UInt64 · first Int64 · second Int64 · anchor Int64 · slept UInt32`, little-endian: 37 bytes. A
/// client sends a request and the service answers. The client's next request carries the times at which it sent the
/// previous request and received its answer. So both ends know the four times of every exchange except the last.
package struct ClockFrame: Sendable, Hashable {
    package enum Kind: UInt8, Sendable {
        /// First and second: when the client sent its previous request and received the answer; both 0 in its first
        /// request.
        case request = 1
        /// First and second: when the service received the request and sent the answer.
        case answer = 2
    }

    /// The bytes of a frame's value.
    package static let byteCount = 37
    /// Times are below this, about 146 years: a difference of two never overflows.
    package static let timeLimit: Int64 = 1 << 62

    package var kind: Kind
    /// Random bits of the request, which its answer repeats.
    package var nonce: UInt64
    /// Nanoseconds of the sender's clock, which runs while its machine sleeps.
    package var first: Int64
    package var second: Int64
    /// Nanoseconds to add to the sender's clock for the time since 1970; 0 if its time of day is not synchronised.
    package var anchor: Int64
    /// How many milliseconds the sender's machine has slept since its start; wraps around.
    package var slept: UInt32

    package init(_ kind: Kind, nonce: UInt64, first: Int64, second: Int64, anchor: Int64, slept: UInt32) {
        self.kind = kind
        self.nonce = nonce
        self.first = first
        self.second = second
        self.anchor = anchor
        self.slept = slept
    }

    /// Reads a frame's value; `nil` if the bytes are malformed.
    package init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount, let kind = Kind(rawValue: bytes[0]) else { return nil }
        func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type) -> Number {
            Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }
        self.init(
            kind, nonce: number(at: 1, as: UInt64.self), first: number(at: 9, as: Int64.self),
            second: number(at: 17, as: Int64.self), anchor: number(at: 25, as: Int64.self),
            slept: number(at: 33, as: UInt32.self))
        guard (0..<Self.timeLimit).contains(first), (0..<Self.timeLimit).contains(second) else { return nil }
    }

    /// The frame's value.
    package var wireBytes: [UInt8] {
        var bytes = [kind.rawValue]
        withUnsafeBytes(of: nonce.littleEndian) { bytes.append(contentsOf: $0) }
        for time in [first, second, anchor] {
            withUnsafeBytes(of: time.littleEndian) { bytes.append(contentsOf: $0) }
        }
        withUnsafeBytes(of: slept.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }
}
