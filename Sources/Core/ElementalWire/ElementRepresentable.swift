#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#elseif canImport(Foundation)
public import struct Foundation.Data
#endif

/// A Swift type that can be the value of an element.
///
/// The types of the wire table conform: the fixed-width integers, `Float`, `Double`, `Bool`, `String`, `Data`,
/// `[UInt8]`, ``Vector2``, ``Vector3``, ``Vector4``, ``Matrix4x4``, and ``JSON`` for any `Codable` value. An enum whose raw
/// values are integers or strings only has to declare that it conforms.
public protocol ElementRepresentable: Sendable {
    /// The wire type that carries values of this Swift type.
    static var elementType: ElementType { get }

    /// The value whose wire form is `bytes`, or `nil` if no value has that form (a wrong length, invalid UTF-8).
    init?(wireBytes bytes: UnsafeRawBufferPointer)

    /// The received value, or `nil` if no value has that form. The default calls ``init(wireBytes:)``.
    init?(received: ReceivedBytes)

    /// How many bytes the value takes on the wire, without the envelope.
    var wireByteCount: Int { get }

    /// Appends the value's wire form, exactly ``wireByteCount`` bytes, to `destination`, which has room for them.
    ///
    /// Numbers, texts and data can append themselves at any offset:
    /// ```swift
    /// func writeWireBytes(to destination: inout OutputRawSpan) {
    ///     hour.writeWireBytes(to: &destination)
    ///     minute.writeWireBytes(to: &destination)
    /// }
    /// ```
    /// Writing more bytes stops the program before they are written. After fewer bytes, sending throws.
    func writeWireBytes(to destination: inout OutputRawSpan)

    /// Writes the value's wire form to memory of ``wireByteCount`` bytes, unchecked.
    @available(*, deprecated, message: "use writeWireBytes(to: inout OutputRawSpan)")
    func writeWireBytes(to destination: UnsafeMutableRawPointer)

    /// The value's wire form if it is long and already in memory: a connection then sends it without copying it.
    /// Otherwise, and by default, `nil`.
    var longWireBytes: Data? { get }

    /// The value as a number, to check it against a range; `nil` for types that are not numbers.
    var rangeValue: Double? { get }

    /// Whether the value, or each component of a vector, is within a range. NaN is in no range. The default compares
    /// ``rangeValue``, and is true if that is `nil`.
    func isWithin(_ range: ClosedRange<Double>) -> Bool

    /// The value as the untyped ``ElementValue``.
    var elementValue: ElementValue { get }

    /// The value that `elementValue` holds, or `nil` if that is of another type.
    init?(_ elementValue: ElementValue)
}

extension ElementRepresentable {
    @inlinable
    public var rangeValue: Double? { nil }

    @inlinable
    public func isWithin(_ range: ClosedRange<Double>) -> Bool { rangeValue.map { range.contains($0) } ?? true }

    @inlinable
    public init?(received: ReceivedBytes) { self.init(wireBytes: received.bytes) }

    @inlinable
    public var longWireBytes: Data? { nil }
}

// An enum, or another type with a raw value, travels as that value.
extension ElementRepresentable where Self: RawRepresentable, RawValue: ElementRepresentable {
    public static var elementType: ElementType { RawValue.elementType }

    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        guard let rawValue = RawValue(wireBytes: bytes) else { return nil }
        self.init(rawValue: rawValue)
    }

    @inlinable
    public var wireByteCount: Int { rawValue.wireByteCount }

    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) { rawValue.writeWireBytes(to: &destination) }

    public var elementValue: ElementValue { rawValue.elementValue }

    public init?(_ elementValue: ElementValue) {
        guard let rawValue = RawValue(elementValue) else { return nil }
        self.init(rawValue: rawValue)
    }
}

@available(
    *, unavailable,
    message: """
        Int has no fixed size; an element takes Int8...Int64, UInt8...UInt64, Float, Double, Bool, String, Data, [UInt8], \
        Vector2...Vector4, Matrix4x4, JSON, or an enum with such raw values
        """
)
extension Int: ElementRepresentable {
    public static var elementType: ElementType { .int64 }
    public var elementValue: ElementValue { .int64(Int64(self)) }
    public init?(_: ElementValue) { nil }
}

extension ElementRepresentable {
    /// Writes the value's wire form to the buffer, which has ``wireByteCount`` bytes. More bytes stop the program.
    ///
    /// - Returns: the number of bytes written. A type defined by the program may write too few.
    @inlinable
    @inline(__always)
    package func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
        var destination = OutputRawSpan(buffer: buffer, initializedCount: 0)
        writeWireBytes(to: &destination)
        return destination.finalize(for: buffer)
    }

    /// Appends the bytes that `body` writes, at any alignment. Inlined, so that only the store of a number remains.
    @inlinable
    @inline(__always)
    package func write(
        _ byteCount: Int, to destination: inout OutputRawSpan, _ body: (UnsafeMutableRawPointer) -> Void
    ) {
        precondition(byteCount <= destination.freeCapacity, "a value writes more bytes than its wireByteCount")
        destination.withUnsafeMutableBytes { buffer, count in
            guard let base = buffer.baseAddress else { return }
            body(base + count)
            count += byteCount
        }
    }

    /// Appends bytes.
    @inlinable
    @inline(__always)
    package func write(_ bytes: UnsafeRawBufferPointer, to destination: inout OutputRawSpan) {
        guard let start = bytes.baseAddress else { return }
        write(bytes.count, to: &destination) { $0.copyMemory(from: start, byteCount: bytes.count) }
    }
}

extension ElementValue {
    /// Writes the wire form of a value whose type is known only at run time. The buffer has ``wireByteCount`` bytes.
    package func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
        visit(WritingVisitor(destination: buffer))
        return buffer.count
    }

    /// Appends the value's wire form, exactly ``wireByteCount`` bytes, to `destination`. Stops the program if there is no
    /// room for them.
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        destination.withUnsafeMutableBytes { buffer, count in
            count += write(to: UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + wireByteCount]))
        }
    }

    #if !hasFeature(Embedded)
    /// The value's wire form.
    package var wireBytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: wireByteCount) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            count = write(to: UnsafeMutableRawBufferPointer(rebasing: bytes[..<wireByteCount]))
        }
    }
    #endif
}

// MARK: Deprecated methods with pointers, kept for one version

extension ElementRepresentable {
    /// Calls the deprecated method with a pointer.
    @available(*, deprecated, message: "implement writeWireBytes(to: inout OutputRawSpan)")
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        write(wireByteCount, to: &destination) { writeWireBytes(to: $0) }
    }

    /// Calls the method with a span.
    @available(*, deprecated, message: "use writeWireBytes(to: inout OutputRawSpan)")
    public func writeWireBytes(to destination: UnsafeMutableRawPointer) {
        _ = write(to: UnsafeMutableRawBufferPointer(start: destination, count: wireByteCount))
    }
}

extension ElementValue {
    /// Writes the value's wire form, exactly ``wireByteCount`` bytes, to `destination`.
    @available(*, deprecated, message: "use writeWireBytes(to: inout OutputRawSpan)")
    public func writeWireBytes(to destination: UnsafeMutableRawPointer) {
        _ = write(to: UnsafeMutableRawBufferPointer(start: destination, count: wireByteCount))
    }
}

/// The wire form of a received value, valid only during the call that passes it.
///
/// It is trivially copyable: passing it on touches no reference count.
public struct ReceivedBytes {
    /// The bytes, valid only during the call.
    public let bytes: UnsafeRawBufferPointer
    /// Whether the value arrived in a datagram: its sender does not slow down for a slow receiver.
    public let isDatagram: Bool
    private let kept: UnsafePointer<Data>?

    /// The same bytes in a form that can be stored without a copy, for a long value; otherwise `nil`.
    public var long: Data? { kept?.pointee }

    /// Whether ``long`` has a value.
    public var isLong: Bool { kept != nil }

    /// The bytes of a value that has to be copied to be stored.
    public init(_ bytes: UnsafeRawBufferPointer, isDatagram: Bool = false) {
        self.bytes = bytes
        self.isDatagram = isDatagram
        kept = nil
    }

    init(_ bytes: UnsafeRawBufferPointer, _ kept: UnsafePointer<Data>) {
        self.bytes = bytes
        isDatagram = false
        self.kept = kept
    }
}
