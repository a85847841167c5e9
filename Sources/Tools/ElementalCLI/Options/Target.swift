import ArgumentParser
import Elemental
import Zeroconf

/// What a command connects to: a service that Zeroconf finds, or a host and port.
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
