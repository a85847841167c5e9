/// Recognises the machine that an identity was made on, to detect that its storage was copied to another machine.
///
/// The hash covers the installation's ID and a Raspberry Pi's serial number, which a copied card does not take along.
/// It is a hash because a machine's ID must not be published (machine-id(5)).
enum MachineIdentifier {
    private static let installationFiles = ["/etc/machine-id", "/var/lib/dbus/machine-id"]
    private static let serialNumberFiles = [
        "/proc/device-tree/serial-number", "/sys/firmware/devicetree/base/serial-number",
    ]
    private static let maximumByteCount = 128

    /// 32 bytes, or `nil` for a system without these identifiers.
    ///
    /// - Parameter root: the path of the system's files.
    static func current(root: String = "") -> [UInt8]? {
        // "uninitialized" is the content of an image before its first start.
        let installation = first(of: installationFiles, root) { $0.count == 32 && Hexadecimal.bytes($0) != nil }
        let serialNumber = first(of: serialNumberFiles, root) { !$0.isEmpty }
        guard installation != nil || serialNumber != nil else { return nil }
        return Primitives.hmacSHA256(
            key: Array("elemental machine 1".utf8),
            CPace.concatenate([installation, serialNumber].map { Array(($0 ?? "").utf8) }))
    }

    private static func first(of paths: [String], _ root: String, where isValid: (String) -> Bool) -> String? {
        for path in paths {
            guard let bytes = FileDescriptor.contents(of: root + path, limit: maximumByteCount) else { continue }
            let text = String(decoding: bytes.filter { $0 > UInt8(ascii: " ") && $0 < 0x7F }, as: UTF8.self)
            if isValid(text) { return text }
        }
        return nil
    }
}
