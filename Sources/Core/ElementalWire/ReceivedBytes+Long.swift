#if !hasFeature(Embedded)
#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Data
#else
public import struct Foundation.Data
#endif

extension ReceivedBytes {
    /// Passes the bytes of a value that can be stored without a copy.
    public static func withLong<Result>(_ data: Data, _ body: (ReceivedBytes) throws -> Result) rethrows -> Result {
        try data.withUnsafeBytes { bytes in
            try withUnsafePointer(to: data) { try body(ReceivedBytes(bytes, $0)) }
        }
    }
}
#endif
