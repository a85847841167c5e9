/// The rules for the names of services, and the names to try when one is taken.
package enum ServiceName {
    /// The longest label in DNS, in bytes of UTF-8 (RFC 6763, section 4.1.1).
    package static let maximumSize = 63

    package static func check(_ name: String) throws(ZeroconfError) {
        guard !name.isEmpty else {
            throw ZeroconfError(.invalidName, "a service needs a name: give it one of 1 to 63 bytes of UTF-8")
        }
        guard name.utf8.count <= maximumSize else {
            throw ZeroconfError(
                .invalidName,
                "the service name \"\(name.prefix(maximumSize))…\" has \(name.utf8.count) bytes of UTF-8; use at most \(maximumSize)"
            )
        }
        guard name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw ZeroconfError(
                .invalidName, "the service name contains a control character, such as a line end or a tab; remove it")
        }
    }

    /// "Rover" for 1, "Rover (2)" for 2, and so on, cut between characters so that it stays within 63 bytes.
    static func candidate(_ number: Int, for name: String) -> String {
        guard number > 1 else { return name }
        let suffix = " (\(number))"
        var stem = name
        while stem.utf8.count + suffix.utf8.count > maximumSize {
            stem.removeLast()
        }
        return stem + suffix
    }
}
