import Elemental
import Zeroconf

/// What a command is about: a service found by Zeroconf, or a host and port.
enum Target: Sendable, Hashable {
    /// The service's name, and the instance's where one was named.
    case service(String, name: String?)
    case address(host: String, port: Int)

    /// What is wrong with a spelling, in words.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads `SERVICE`, `SERVICE/INSTANCE NAME`, `HOST:PORT` or `[IPV6]:PORT`.
    init(parsing text: String) throws(Problem) {
        if let slash = text.firstIndex(of: "/") {
            let service = text[..<slash]
            let name = text[text.index(after: slash)...]
            guard !service.isEmpty, !name.isEmpty else {
                throw Problem(description: "SERVICE and INSTANCE NAME go before and after the '/', as in 'robot/Rover'")
            }
            try Self.check(service: service)
            // Any characters are allowed: other programs publish what this one would not.
            guard name.utf8.count <= ServiceName.maximumSize else {
                throw Problem(
                    description: "an INSTANCE NAME has \(ServiceName.maximumSize) bytes of UTF-8 at most, and "
                        + "'\(name.excerpt)' has \(name.utf8.count)")
            }
            self = .service(String(service), name: String(name))
            return
        }
        guard let colon = text.lastIndex(of: ":") else {
            guard !text.isEmpty else {
                throw Problem(description: "it is empty; give SERVICE, SERVICE/NAME or HOST:PORT")
            }
            try Self.check(service: text[...])
            self = .service(text, name: nil)
            return
        }
        let digits = text[text.index(after: colon)...]
        guard let port = PortNumber.parse(digits, allowed: 1...65535) else {
            throw Problem(description: "'\(digits.excerpt)' is no port; give a number from 1 to 65535 after the ':'")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw Problem(description: "write an IPv6 address in brackets, as in '[fe80::1%eth0]:5000'")
        }
        guard !host.isEmpty else { throw Problem(description: "the host before the ':' is missing") }
        guard !host.contains(where: { "[]".contains($0) || $0.isWhitespace }) else {
            throw Problem(description: "'\(host.excerpt)' is no host: give its name or its address before the ':'")
        }
        self = .address(host: String(host), port: port)
    }

    private static func check(service: Substring) throws(Problem) {
        do {
            try ElementalService.check(service: String(service))
        } catch {
            throw Problem(description: error.message)
        }
    }
}
