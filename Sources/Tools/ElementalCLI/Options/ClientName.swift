import ArgumentParser
import Elemental
import ElementalWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The name under which a client connects: `--name`.
enum ClientName {
    /// Checks that a service would accept the name unchanged.
    ///
    /// - Throws: `ValidationError` if it is empty or too long.
    static func check(_ name: String?) throws {
        guard let name, !(1...SystemElement.maximumNameByteCount).contains(name.utf8.count) else { return }
        throw ValidationError(
            "--name takes a name of 1 to \(SystemElement.maximumNameByteCount) bytes, not of \(name.utf8.count)")
    }

    /// The default: `elemental@HOST`.
    static var standard: String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let result = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { gethostname($0, text.count - 1) }
            }
        }
        let name = String(decoding: buffer.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }, as: UTF8.self)
        return result == 0 && !name.isEmpty ? "elemental@\(name)" : "elemental"
    }
}
