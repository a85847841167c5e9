#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// This machine's name.
enum HostName {
    /// The name without a domain; "elemental" if the machine has none.
    static var current: String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let result = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { gethostname($0.baseAddress.unsafelyUnwrapped, $0.count - 1) }
        }
        guard result == 0 else { return "elemental" }
        let name = String(decoding: buffer.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }, as: UTF8.self)
        return name.isEmpty ? "elemental" : name
    }
}
