import ElementalSecurity
import NIOCore
import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The dashboard's self-signed certificate, so that a phone in the same network gets an encrypted page. A browser asks
/// the user once whether to trust it; the user compares its fingerprint.
///
/// The key is kept in the state directory. A new certificate is made when this machine has an address or a name that is
/// not in it, and a month before it expires. Browsers then ask again.
struct PageCertificate {
    /// PEM.
    let chain: [UInt8]
    let key: [UInt8]
    /// SHA-256 of the certificate, as browsers show it: `AB:CD:…`.
    let fingerprint: String

    private static let file = "page-certificate.pem"
    private static let maximumByteCount = 16 << 10
    /// Safari refuses certificates valid for more than 825 days, and other browsers will refuse more than 398.
    private static let days = 397
    private static let renewalDays = 30
    private static let timeLimit = Duration.seconds(30)
    private static let namesLine = "Names: "
    private static let endLine = "Ends: "

    /// Reads the certificate of a state directory, or makes one for those names and addresses. Blocks: it reads files and
    /// may run `openssl`.
    ///
    /// - Throws: ``CommandFailure`` if `openssl` is missing or fails, ``SecurityError`` if the file cannot be written.
    init(directory: String, names: [String], now: Date = Date()) throws {
        let file = StateFile(directory: directory, name: Self.file)
        if let kept = try? file.read(limit: Self.maximumByteCount), Self.covers(kept, names, now),
            let own = try? Self(pem: kept)
        {
            self = own
            return
        }
        let made = try Self.make(names, now)
        self = try Self(pem: made)
        try file.update(limit: Self.maximumByteCount) { _ in made }
    }

    private init(pem: [UInt8]) throws {
        let text = String(decoding: pem, as: UTF8.self)
        guard let key = Self.block("PRIVATE KEY", of: text), let certificate = Self.block("CERTIFICATE", of: text),
            let bytes = Data(base64Encoded: certificate.split(separator: "\n").dropFirst().dropLast().joined())
        else {
            throw CommandFailure(
                "certificate", "openssl did not make a certificate and key; give your own with --certificate and --key")
        }
        self.key = Array(key.utf8)
        chain = Array(certificate.utf8)
        fingerprint = Primitives.sha256(Array(bytes)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined(separator: ":")
    }

    /// The names of this machine for other machines: its name, with and without `.local`, and its addresses.
    static func names(_ others: [String]) -> [String] {
        let addresses = ((try? System.enumerateDevices()) ?? []).compactMap(\.address?.ipAddress)
            // Link-local addresses have a zone, which a certificate cannot name.
            .filter { !$0.hasPrefix("fe80") }
        let name = HostName.current
        // Leaves out names that could change openssl's configuration.
        return Set(["localhost", name, "\(name).local"] + addresses + others).filter { name in
            name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
        }.sorted()
    }

    private static func covers(_ content: [UInt8], _ names: [String], _ now: Date) -> Bool {
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
        guard let known = lines.first(where: { $0.hasPrefix(namesLine) })?.dropFirst(namesLine.count),
            let end = lines.first(where: { $0.hasPrefix(endLine) }).flatMap({ Double($0.dropFirst(endLine.count)) })
        else { return false }
        let wanted = Set(known.split(separator: " ").map(String.init))
        return wanted.isSuperset(of: names)
            && end - now.timeIntervalSince1970 > Double(renewalDays) * 86400
    }

    /// Makes a P-256 key, which all browsers accept, and a self-signed certificate with `openssl`.
    private static func make(_ names: [String], _ now: Date) throws -> [UInt8] {
        let alternatives = names.map { (IPAddress(literal: $0) == nil ? "DNS:" : "IP:") + $0 }.joined(separator: ",")
        let configuration = """
            [req]
            distinguished_name = subject
            x509_extensions = extensions
            prompt = no
            [subject]
            CN = Elemental on this network
            [extensions]
            basicConstraints = critical,CA:FALSE
            keyUsage = critical,digitalSignature
            extendedKeyUsage = serverAuth
            subjectAltName = \(alternatives)

            """
        // The configuration goes to standard input. The key is in no file before it is in the state directory.
        let command = CommandProcess(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -sha256 -days \(days) "
                + "-config /dev/stdin -keyout /dev/stdout -out /dev/stdout")
        var output: [UInt8] = []
        var errors: [UInt8] = []
        let end = command.run(
            input: Array(configuration.utf8), timeout: timeLimit,
            onError: { bytes in if errors.count < 4096 { errors += bytes } },
            { bytes in
                output += bytes
                return output.count <= maximumByteCount / 2
            })
        if let failure = end.failure {
            let reason = end == .exited(127) ? "openssl is not installed" : failure
            throw CommandFailure(
                "certificate",
                "no certificate can be made for https: \(reason). Install it with 'sudo apt-get install openssl', give a "
                    + "certificate with --certificate and --key, or serve plain http with --http")
        }
        let ends = now.timeIntervalSince1970 + Double(days) * 86400
        return Array("\(namesLine)\(names.joined(separator: " "))\n\(endLine)\(Int(ends))\n".utf8) + output
    }

    private static func block(_ label: String, of text: String) -> String? {
        guard let start = text.firstRange(of: "-----BEGIN \(label)-----"),
            let end = text[start.upperBound...].firstRange(of: "-----END \(label)-----")
        else { return nil }
        return String(text[start.lowerBound..<end.upperBound]) + "\n"
    }
}
