import Support

extension TXTRecord {
    /// The maximum size of an encoded record, in bytes. RFC 6763 (section 6.2) recommends at most 1300, so that a
    /// record fits into one Ethernet packet with its name; it prefers 200 or less.
    ///
    /// The limit is enforced here because Avahi 0.8 accepts a larger record without complaint, but no other host can
    /// then resolve the service: on an Ethernet, 1328 bytes still got through and 1428 did not.
    public static let maximumEncodedSize = 1300

    /// The record in its wire format: each entry is a length byte and `key=value` (RFC 6763, section 6.1).
    ///
    /// - Throws: ``ZeroconfError/Code/invalidTXTRecord`` for an empty key, a key with characters other than printable
    ///   ASCII without `=`, an entry over 255 bytes, or more than ``maximumEncodedSize`` bytes in all.
    public func encoded() throws(ZeroconfError) -> [UInt8] {
        var bytes: [UInt8] = []
        for entry in entries {
            let key = Array(entry.key.utf8)
            guard !key.isEmpty, key.allSatisfy(Self.isAllowedInKey) else {
                throw ZeroconfError(
                    .invalidTXTRecord,
                    "the TXT key \"\(entry.key)\" is not allowed: use printable ASCII characters except \"=\""
                )
            }
            let size = key.count + (entry.value.map { $0.count + 1 } ?? 0)
            guard size <= 255 else {
                throw ZeroconfError(
                    .invalidTXTRecord,
                    "the TXT entry \"\(entry.key)\" has \(size) bytes with its key and \"=\"; use at most 255"
                )
            }
            bytes.append(UInt8(size))
            bytes += key
            if let value = entry.value {
                bytes.append(Self.equalsSign)
                bytes += value
            }
        }
        guard bytes.count <= Self.maximumEncodedSize else {
            throw ZeroconfError(
                .invalidTXTRecord,
                "the TXT record has \(bytes.count) bytes; use at most \(Self.maximumEncodedSize)"
            )
        }
        // A TXT record holds at least one string, if only an empty one (RFC 6763, section 6.1).
        return bytes.isEmpty ? [0] : bytes
    }

    /// Parses a record from the wire. It accepts any bytes.
    ///
    /// It skips empty strings, strings that begin with `=`, keys with invalid characters, repeated keys (the first
    /// counts: RFC 6763, section 6.4), and a truncated last string.
    public init(decoding wire: some Sequence<UInt8>) {
        let bytes = Array(wire)
        var seen: Set<ComparableName> = []
        var entries: [Entry] = []
        var position = 0
        while position < bytes.count {
            let start = position + 1
            let end = start + Int(bytes[position])
            guard end <= bytes.count else { break }
            position = end
            let string = bytes[start..<end]
            let keyEnd = string.firstIndex(of: Self.equalsSign) ?? end
            let keyBytes = string[start..<keyEnd]
            guard !keyBytes.isEmpty, keyBytes.allSatisfy(Self.isAllowedInKey) else { continue }
            let key = String(decoding: keyBytes, as: UTF8.self)
            guard seen.insert(ComparableName(key)).inserted else { continue }
            entries.append(Entry(key: key, value: keyEnd == end ? nil : Array(string[(keyEnd + 1)...])))
        }
        self.init(entries: entries)
    }

    /// The wire form with its strings in reverse order.
    ///
    /// Avahi 0.8 returns the strings of a resolved service from the last to the first, although they are on the wire in
    /// the order in which they were published.
    static func reversingStrings(in wire: [UInt8]) -> [UInt8] {
        var strings: [ArraySlice<UInt8>] = []
        var position = 0
        while position < wire.count {
            let end = min(position + 1 + Int(wire[position]), wire.count)
            strings.append(wire[position..<end])
            position = end
        }
        return Array(strings.reversed().joined())
    }

    private static var equalsSign: UInt8 { 0x3D }

    private static func isAllowedInKey(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != equalsSign
    }
}
