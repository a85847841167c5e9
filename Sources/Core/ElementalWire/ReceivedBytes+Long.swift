#if !hasFeature(Embedded)
#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#else
public import struct Foundation.Data
#endif

extension ReceivedBytes {
    /// Passes the bytes of a value that can be stored without a copy.
    ///
    /// - Parameter isLent: whether the data keeps more memory alive than its own bytes.
    public static func withLong<Result>(
        _ data: Data, isLent: Bool, _ body: (ReceivedBytes) throws -> Result
    ) rethrows -> Result {
        try data.withUnsafeBytes { bytes in
            try withUnsafePointer(to: data) { try body(ReceivedBytes(bytes, isLent: isLent, $0)) }
        }
    }
}
#endif
