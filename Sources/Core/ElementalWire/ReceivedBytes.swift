#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#elseif canImport(Foundation)
public import struct Foundation.Data
#endif

/// The wire form of a received value, valid only during the call that passes it.
///
/// It is trivially copyable: passing it on touches no reference count.
public struct ReceivedBytes {
    /// The bytes, valid only during the call.
    public let bytes: UnsafeRawBufferPointer
    /// Whether the value came in a datagram: its sender does not slow down while nobody reads.
    public let isDatagram: Bool
    private let kept: UnsafePointer<Data>?

    /// The same bytes if they can be stored without a copy, as for a long value; otherwise `nil`.
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
