#if !hasFeature(Embedded)
#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#else
public import struct Foundation.Data
#endif

extension ReceivedBytes {
    /// Hands on the bytes of a value that need not be copied.
    ///
    /// - Parameter isLent: whether the data keeps more memory than its own.
    public static func withLong<Result>(
        _ data: Data, isLent: Bool, _ body: (ReceivedBytes) throws -> Result
    ) rethrows -> Result {
        try data.withUnsafeBytes { bytes in
            try withUnsafePointer(to: data) { try body(ReceivedBytes(bytes, isLent: isLent, $0)) }
        }
    }
}
#endif
