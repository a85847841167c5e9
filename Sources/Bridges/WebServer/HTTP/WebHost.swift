internal import Support

/// The host of a Host or Origin header: a name in lower case without a final dot, or an address.
enum WebHost: Hashable, Sendable {
    case name(String)
    case address(IPAddress)

    /// - Parameter text: a host as in a URL, with brackets around an IPv6 address.
    init?(_ text: Substring) {
        if text.utf8.first == UInt8(ascii: "[") {
            guard text.utf8.last == UInt8(ascii: "]"), text.utf8.contains(UInt8(ascii: ":")),
                let address = IPAddress(literal: text.dropFirst().dropLast())
            else { return nil }
            self = .address(address)
            return
        }
        var name = text.lowercased()
        if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
        guard Self.isName(name) else { return nil }
        if let address = IPAddress(literal: name) { self = .address(address) } else { self = .name(name) }
    }

    init?(_ text: String) { self.init(text[...]) }

    /// - Parameter option: a host as the user writes it, with or without brackets around an IPv6 address.
    init?(option: String) {
        if option.utf8.contains(UInt8(ascii: ":")), let address = IPAddress(literal: option) {
            self = .address(address)
        } else {
            self.init(option)
        }
    }

    private static func isName(_ name: String) -> Bool {
        guard 1...253 ~= name.utf8.count else { return false }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            1...63 ~= label.utf8.count
                && label.allSatisfy { $0 == "-" || $0 == "_" || $0.isASCII && ($0.isLowercase || $0.isNumber) }
        }
    }
}

/// A host and a port; `nil` for the scheme's default port.
struct WebAuthority: Equatable, Sendable {
    let host: WebHost
    let port: Int?

    /// - Parameter text: the value of a Host header, or an origin without its scheme. Anything else in it makes it
    ///   invalid, such as a user's name, spaces or a path.
    init?(_ text: Substring) {
        guard text.utf8.count <= 300 else { return nil }
        let bytes = text.utf8
        let colon = bytes.lastIndex(of: UInt8(ascii: ":"))
        let bracket = bytes.lastIndex(of: UInt8(ascii: "]"))
        if let colon, bracket.map({ $0 < colon }) ?? true {
            let digits = bytes[bytes.index(after: colon)...]
            guard 1...5 ~= digits.count, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
                let port = Int(String(decoding: Array(digits), as: UTF8.self)), 1...65_535 ~= port,
                let host = WebHost(text[..<colon])
            else { return nil }
            (self.host, self.port) = (host, port)
        } else {
            guard let host = WebHost(text) else { return nil }
            (self.host, port) = (host, nil)
        }
    }
}

/// The origin of a page: scheme, host and port.
package struct WebOrigin: Sendable, CustomStringConvertible {
    package let isSecure: Bool
    private let authority: WebAuthority
    package let description: String

    /// - Parameter text: an address without a path, such as `https://pi.example.org`, perhaps with a final slash.
    package init?(_ text: String) {
        let text = text.utf8.last == UInt8(ascii: "/") ? String(text.dropLast()) : text
        guard let scheme = ["https://", "http://"].first(where: { text.prefix($0.count).lowercased() == $0 }),
            let authority = WebAuthority(text.dropFirst(scheme.count))
        else { return nil }
        isSecure = scheme == "https://"
        self.authority = authority
        description = scheme + text.dropFirst(scheme.count)
    }

    private var port: Int { authority.port ?? (isSecure ? 443 : 80) }

    func isAsked(by asked: WebAuthority) -> Bool {
        asked.host == authority.host && asked.port ?? (isSecure ? 443 : 80) == port
    }

    static func == (a: WebOrigin, b: WebOrigin) -> Bool { a.isSecure == b.isSecure && b.isAsked(by: a.authority) }
}
