import ArgumentParser
import Elemental
import Zeroconf

/// The target of a command: a service that Zeroconf finds, or a host and port.
enum Target: Sendable, Hashable {
    /// A service by its name and, if one was given, its instance's name.
    case service(String, name: String?)
    case address(HostPort)

    /// Parses `SERVICE`, `SERVICE/INSTANCE NAME`, `HOST:PORT` or `[IPV6]:PORT`.
    init(parsing text: String) throws(ValidationError) {
        if let slash = text.firstIndex(of: "/") {
            let service = String(text[..<slash])
            let name = String(text[text.index(after: slash)...])
            guard !service.isEmpty, !name.isEmpty else {
                throw ValidationError("SERVICE and INSTANCE NAME go before and after the '/', as in 'robot/Rover'")
            }
            try checked { try ElementalService.check(service: service) }
            // Only the length is checked: other programs publish names that this one would refuse to publish.
            guard name.utf8.count <= ServiceName.maximumSize else {
                throw ValidationError(
                    "an INSTANCE NAME has at most \(ServiceName.maximumSize) bytes of UTF-8, and '\(name.excerpt)' has "
                        + "\(name.utf8.count)")
            }
            self = .service(service, name: name)
        } else if text.contains(":") {
            self = .address(try HostPort(parsing: text, ports: 1...65535))
        } else {
            guard !text.isEmpty else {
                throw ValidationError("it is empty; give SERVICE, SERVICE/NAME or HOST:PORT")
            }
            try checked { try ElementalService.check(service: text) }
            self = .service(text, name: nil)
        }
    }
}

/// `HOST:PORT` from the command line, with an IPv6 address in brackets.
struct HostPort: Sendable, Hashable {
    let host: String
    let port: Int
}

extension HostPort {
    /// - Parameter ports: the allowed port numbers.
    init(parsing text: some StringProtocol, ports: ClosedRange<Int>) throws(ValidationError) {
        guard let colon = text.lastIndex(of: ":") else {
            throw ValidationError("'\(String(text).excerpt)' has no port; write HOST:PORT, such as 127.0.0.1:25232")
        }
        let digits = String(text[text.index(after: colon)...])
        // Digits only: `Int` also takes a sign.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits), ports.contains(port)
        else {
            throw ValidationError(
                "'\(digits.excerpt)' is not a port; give a number from \(ports.lowerBound) to \(ports.upperBound) after "
                    + "the ':'")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw ValidationError("write an IPv6 address in brackets, as in '[fe80::1%eth0]:5000'")
        }
        guard !host.isEmpty else { throw ValidationError("the host before the ':' is missing") }
        guard !host.contains(where: { "[]".contains($0) || $0.isWhitespace }) else {
            throw ValidationError("'\(host.excerpt)' is not a host; give a name or an address before the ':'")
        }
        self.host = host
        self.port = port
    }

    /// Parses an address to listen on, where port 0 lets the system choose.
    static func listening(parsing text: String) throws(ValidationError) -> HostPort {
        try HostPort(parsing: text, ports: 0...65535)
    }
}
