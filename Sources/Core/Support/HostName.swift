/// This machine's name.
package enum HostName {
    /// The name without a domain; "elemental" if the machine has none.
    package static var current: String { known ?? "elemental" }

    /// The name without a domain, if the machine has one.
    package static var known: String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let result = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { gethostname($0.baseAddress.unsafelyUnwrapped, $0.count - 1) }
        }
        guard result == 0 else { return nil }
        let name = String(decoding: buffer.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }, as: UTF8.self)
        return name.isEmpty ? nil : name
    }
}
