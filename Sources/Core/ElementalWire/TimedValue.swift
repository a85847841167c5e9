/// A value with the time at which it was measured, in the system element ``SystemElement/timedValue``.
///
/// `element UInt8 · time Int64 · value`, little-endian. The time is in microseconds of the sender's clock, as in
/// ``ClockFrame``. If 128 is added to the element, the frame has no value: the time belongs to the element's next value
/// over TCP.
package struct TimedValue {
    /// Bytes before the value.
    package static let headerByteCount = 9
    private static let aheadFlag: UInt8 = 0x80

    package let id: Int8
    /// Microseconds of the sender's clock; negative for a measurement from before its machine was started.
    package let time: Int64
    /// Whether the value itself comes later.
    package let isAhead: Bool
    package let value: UnsafeRawBufferPointer

    /// Reads the value of a frame; `nil` if the bytes are malformed.
    package init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerByteCount else { return nil }
        isAhead = bytes[0] & Self.aheadFlag != 0
        if isAhead, bytes.count > Self.headerByteCount { return nil }
        id = Int8(bitPattern: bytes[0] & ~Self.aheadFlag)
        time = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 1, as: Int64.self))
        value = UnsafeRawBufferPointer(rebasing: bytes[Self.headerByteCount...])
    }

    /// Writes the header of a value, ``headerByteCount`` bytes.
    ///
    /// - Parameter isAhead: whether the value itself comes later.
    package static func writeHeader(
        id: Int8, time: Int64, isAhead: Bool = false, to destination: UnsafeMutableRawPointer
    ) {
        destination.storeBytes(of: UInt8(bitPattern: id) | (isAhead ? aheadFlag : 0), as: UInt8.self)
        destination.storeBytes(of: time.littleEndian, toByteOffset: 1, as: Int64.self)
    }

    /// The frame's value that announces the time of a value that comes later.
    package static func ahead(id: Int8, time: Int64) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: headerByteCount) { buffer, count in
            guard let base = buffer.baseAddress else { return }
            writeHeader(id: id, time: time, isAhead: true, to: base)
            count = headerByteCount
        }
    }
}
