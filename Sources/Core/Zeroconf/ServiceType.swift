import Support

/// The type of a service, such as `_robot._tcp`.
///
/// The name is 2 to 15 letters, digits, hyphens or underscores, with at least one letter, and begins and ends with a
/// letter or digit. RFC 6335 (section 5.1) sets the limit of 15 and has no underscore. This type accepts underscores
/// because names such as `screen_control` are in use and both Avahi and mDNSResponder accept them. RFC 6335 also allows
/// a single letter, which Avahi does not (avahi_is_valid_service_type_strict wants two). Avahi itself would accept up
/// to 62 bytes; mDNSResponder and other hosts would not.
///
/// Types are compared without regard to case, as DNS does.
public struct ServiceType: Sendable {
    /// The protocol under which a type is listed.
    public enum TransportProtocol: String, Hashable, Sendable {
        /// For services over TCP.
        case tcp = "_tcp"
        /// For services over anything else, usually UDP (RFC 6763, section 7).
        case udp = "_udp"
    }

    /// The name without underscore and protocol, such as `robot`.
    public let name: String
    /// The protocol.
    public let transportProtocol: TransportProtocol

    /// Parses a full type such as `_robot._tcp`; a dot at its end is ignored.
    ///
    /// - Throws: ``ZeroconfError/Code/invalidType`` with a message that says what to change.
    public init(_ type: String) throws(ZeroconfError) {
        let trimmed = type.hasSuffix(".") ? String(type.dropLast()) : type
        let labels = trimmed.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count == 2, labels[0].hasPrefix("_"),
            let transportProtocol = TransportProtocol(rawValue: ComparableName(labels[1]).text)
        else {
            throw ZeroconfError(
                .invalidType,
                "\"\(type.prefix(64))\" is not a service type: write an underscore, a name, and ._tcp or ._udp, "
                    + "as in \"_robot._tcp\" (or ServiceType.tcp(\"robot\"))"
            )
        }
        try self.init(name: String(labels[0].dropFirst()), transportProtocol: transportProtocol)
    }

    private init(name: String, transportProtocol: TransportProtocol) throws(ZeroconfError) {
        if let problem = Self.problem(with: name) {
            throw ZeroconfError(.invalidType, "\"\(name.prefix(64))\" cannot name a service type: \(problem)")
        }
        self.name = name
        self.transportProtocol = transportProtocol
    }

    /// The type for a bare name over TCP: `robot` gives `_robot._tcp`.
    ///
    /// - Throws: ``ZeroconfError/Code/invalidType`` with a message that says what to change.
    public static func tcp(_ name: String) throws(ZeroconfError) -> ServiceType {
        try ServiceType(name: name, transportProtocol: .tcp)
    }

    /// The type for a bare name over UDP: `robot` gives `_robot._udp`.
    ///
    /// - Throws: ``ZeroconfError/Code/invalidType`` with a message that says what to change.
    public static func udp(_ name: String) throws(ZeroconfError) -> ServiceType {
        try ServiceType(name: name, transportProtocol: .udp)
    }

    private static func problem(with name: String) -> String? {
        let bytes = Array(name.utf8)
        func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) && byte < 0x80 }
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        let isAllowed = { (byte: UInt8) in isLetter(byte) || isDigit(byte) || byte == 0x2D || byte == 0x5F }
        guard bytes.allSatisfy(isAllowed) else {
            return "use only the letters a-z, digits, hyphens and underscores"
        }
        guard (2...15).contains(bytes.count) else {
            return "it has \(bytes.count) characters; make it 2 to 15"
        }
        guard bytes.contains(where: isLetter) else {
            return "give it at least one letter"
        }
        for end in [bytes[0], bytes[bytes.count - 1]] where !isLetter(end) && !isDigit(end) {
            return "begin and end it with a letter or a digit"
        }
        return nil
    }
}

extension ServiceType: Hashable, CustomStringConvertible {
    /// The full type, such as `_robot._tcp`.
    public var description: String { "_\(name).\(transportProtocol.rawValue)" }

    /// Whether both are the same type to DNS, which ignores the case of names.
    public static func == (one: ServiceType, other: ServiceType) -> Bool {
        one.transportProtocol == other.transportProtocol && one.name.isSameName(as: other.name)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(transportProtocol)
        hasher.combine(ComparableName(name))
    }
}
