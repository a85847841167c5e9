import Elemental

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// A value for measurements, which carries a message's number.
protocol NumberedValue: ElementRepresentable {
    /// A value of the given length.
    init(_ number: MessageNumber, byteCount: Int)

    /// The number, or `nil` if the value is too short for one. Setting it to `nil` does nothing.
    var number: MessageNumber? { get set }
}

/// 8 bytes: the number itself.
extension UInt64: NumberedValue {
    init(_ number: MessageNumber, byteCount: Int) { self = number.rawValue }

    var number: MessageNumber? {
        get { MessageNumber(rawValue: self) }
        set { if let newValue { self = newValue.rawValue } }
    }
}

/// The number in the first 8 bytes, little-endian as a `UInt64` is, and padding.
extension Data: NumberedValue {
    init(_ number: MessageNumber, byteCount: Int) {
        self.init(repeating: 0, count: byteCount)
        self.number = number
    }

    var number: MessageNumber? {
        get {
            guard count >= MessageNumber.byteCount else { return nil }
            return withUnsafeBytes { MessageNumber(rawValue: UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self))) }
        }
        set {
            guard let newValue, count >= MessageNumber.byteCount else { return }
            withUnsafeMutableBytes { $0.storeBytes(of: newValue.rawValue.littleEndian, as: UInt64.self) }
        }
    }
}

/// 12 bytes: the sequence number, the run and 0. Sequence numbers above 2^24 are rounded.
extension Vector3: NumberedValue {
    init(_ number: MessageNumber, byteCount: Int) { self.init(Float(number.sequence), Float(number.run), 0) }

    var number: MessageNumber? {
        get {
            guard let sequence = UInt64(exactly: x), let run = UInt32(exactly: y) else { return nil }
            return MessageNumber(run: run, sequence: sequence)
        }
        set { if let newValue { self = Self(newValue, byteCount: 12) } }
    }
}
