#if hasFeature(Embedded)
/// The bytes of an ``ElementValue``. Foundation's `Data` everywhere else; Embedded Swift has no Foundation.
public typealias Data = [UInt8]
#else
#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#else
public import struct Foundation.Data
#endif

extension Data: ElementRepresentable, ValueType {
    package static var byteCount: Int? { nil }
    public static var elementType: ElementType { .data }

    @inlinable
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        self = Data(bytes)
    }

    @inlinable
    public init?(received: ReceivedBytes) { self = received.long ?? Data(received.bytes) }

    @inlinable
    public var wireByteCount: Int { count }

    @inlinable
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        withUnsafeBytes { write($0, to: &destination) }
    }

    /// The data itself if it has 16 KiB or more. Memory that the program manages itself (`Data(bytesNoCopy:)`) must not
    /// change until it is sent.
    @inlinable
    public var longWireBytes: Data? { count >= 16 * 1024 ? self : nil }

    public var elementValue: ElementValue { .data(self) }

    public init?(_ elementValue: ElementValue) {
        guard case .data(let value) = elementValue else { return nil }
        self = value
    }
}
#endif
