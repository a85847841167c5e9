/// The address to which a program connects.
package enum ProgramAddress: Hashable {
    /// `elemental:NAME`: the elements of the gateway.
    case elemental(name: String)
    /// `ws://HOST[:PORT]/PATH` or `wss://…`: a hub.
    case webSocket(String)

    init?(_ bytes: [UInt8]) {
        // A program may send strings with a terminating 0.
        let bytes = bytes.last == 0 ? bytes.dropLast() : bytes[...]
        guard !bytes.isEmpty, bytes.allSatisfy({ 0x21...0x7E ~= $0 || $0 == 0x20 }) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        if let name = text.dropping(prefix: "elemental:") {
            guard name.contains(where: { $0 != " " }) else { return nil }
            self = .elemental(name: String(name))
            return
        }
        guard let rest = text.dropping(prefix: "ws://") ?? text.dropping(prefix: "wss://"), !text.contains(" "),
            let slash = rest.firstIndex(of: "/")
        else { return nil }
        let host = rest[..<slash]
        guard let first = host.first, first != ":" else { return nil }
        if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") {
            guard let port = UInt16(host[host.index(after: colon)...]), port > 0 else { return nil }
        }
        self = .webSocket(text)
    }

    /// Returns whether a text is a valid address of a hub.
    package static func isHub(_ text: String) -> Bool { ProgramAddress(Array(text.utf8)) == .webSocket(text) }
}

extension String {
    fileprivate func dropping(prefix: String) -> Substring? {
        lowercased().hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }
}
