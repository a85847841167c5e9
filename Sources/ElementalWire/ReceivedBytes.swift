#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#else
public import struct Foundation.Data
#endif

/// The wire form of a value that came, as long as the call lasts that hands it over.
public struct ReceivedBytes {
    /// The bytes. They are gone after the call.
    public let bytes: UnsafeRawBufferPointer
    /// The same bytes where a long value need not be copied to be kept; `nil` where it must.
    public let long: Data?

    /// Whether ``long`` keeps more memory than its own, so that who keeps it for long had better copy it.
    public let isLent: Bool

    /// The bytes of a value.
    @inlinable
    public init(_ bytes: UnsafeRawBufferPointer, long: Data? = nil, isLent: Bool = false) {
        self.bytes = bytes
        self.long = long
        self.isLent = isLent
    }
}
