/// The content of a QR code for pairing: the service, the fingerprint of its key, and the long secret.
///
/// `elemental:pair?service=robot&name=Rover&id=…&secret=…`, with the fingerprint and the secret in base32. Everyone who
/// sees a label can read it, so its secret is only as safe as the label. The description shows none of it.
public struct PairingLink: Sendable, Equatable, Undisclosed {
    /// The name of the service, such as `robot`.
    public let service: String
    /// The instance, such as "Rover"; `nil` if the label has none.
    public let name: String?
    /// The service's fingerprint. Only a service with this key is paired with.
    public let fingerprint: Fingerprint
    /// The long secret.
    public let secret: PairingSecret

    private static let prefix = "elemental:pair?"
    /// The maximum size of a link in bytes, enough for names of 63 bytes that are all escaped.
    private static let maximumByteCount = 1024

    /// Creates a link. Use a long secret: a link with a code cannot be read again.
    public init(service: String, name: String?, fingerprint: Fingerprint, secret: PairingSecret) {
        self.service = service
        self.name = name
        self.fingerprint = fingerprint
        self.secret = secret
    }

    /// Parses a link. Unknown fields are ignored; repeated fields are an error.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumByteCount, text.hasPrefix(Self.prefix) else { return nil }
        var fields: [Substring: String] = [:]
        for field in text.dropFirst(Self.prefix.count).split(separator: "&", omittingEmptySubsequences: false) {
            guard let equals = field.firstIndex(of: "="),
                let value = Self.unescaped(field[field.index(after: equals)...]),
                fields.updateValue(value, forKey: field[..<equals]) == nil
            else { return nil }
        }
        guard let service = fields["service"], !service.isEmpty,
            let fingerprint = fields["id"].flatMap({ Fingerprint($0) }),
            let secret = fields["secret"].flatMap(PairingSecret.init(secret:))
        else { return nil }
        self.init(service: service, name: fields["name"], fingerprint: fingerprint, secret: secret)
    }

    /// The link. Use it only for a QR code.
    public var text: String {
        let name = name.map { "&name=\(Self.escaped($0))" } ?? ""
        return Self.prefix + "service=\(Self.escaped(service))\(name)&id=\(Base32.encode(fingerprint.bytes))"
            + "&secret=\(Base32.encode(secret.bytes))"
    }

    /// Percent-encoding (RFC 3986, section 2.1) of everything but unreserved characters.
    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, rest.first != UInt8(ascii: "+"),
                let escaped = UInt8(String(rest.prefix(2)) ?? "", radix: 16)
            else { return nil }
            bytes.append(escaped)
            rest = rest.dropFirst(2)
        }
        return bytes.withUnsafeBytes(AdmissionText.decode)
    }
}
