#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#elseif canImport(Foundation)
public import struct Foundation.Data
#endif

/// The wire form of a value that came, as long as the call lasts that hands it over.
///
/// It is plain bits, so that handing it on touches no reference count.
public struct ReceivedBytes {
    /// The bytes. They are gone after the call.
    public let bytes: UnsafeRawBufferPointer
    /// Whether ``long`` keeps more memory than its own, so that who keeps it for long had better copy it.
    public let isLent: Bool
    private let kept: UnsafePointer<Data>?

    /// The same bytes where a long value need not be copied to be kept; `nil` where it must.
    public var long: Data? { kept?.pointee }

    /// Whether ``long`` has a value.
    public var isLong: Bool { kept != nil }

    /// The bytes of a value that is copied by who keeps it.
    public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        isLent = false
        kept = nil
    }

    init(_ bytes: UnsafeRawBufferPointer, isLent: Bool, _ kept: UnsafePointer<Data>) {
        self.bytes = bytes
        self.isLent = isLent
        self.kept = kept
    }
}
