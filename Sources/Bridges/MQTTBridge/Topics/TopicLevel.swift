internal import Support

/// Names of services, instances and elements as levels of MQTT topics: `Left arm` becomes `left-arm-1f0c`.
///
/// A level has only `a`…`z`, digits, `_` and `-`: Home Assistant accepts no other characters in a discovery topic, and
/// NATS closes the connection at a space or a dot. A name with a replaced character gets four digits of a hash, which
/// keep different names apart; so does a name that already ends like one. Upper and lower case are the same, as for
/// service names in Zeroconf. The hash has only 16 bits, so two names can get the same level. The bridge then does not
/// show the second service.
enum TopicLevel {
    static func service(_ name: String) -> String {
        // These levels have another meaning in the same place.
        level(name, isMarked: name == Reserved.bridge || name == Reserved.address)
    }

    /// Returns the level of an instance's name. It has no `_`, so that the two parts of a joined service and instance
    /// level can be told apart.
    static func instance(_ name: String) -> String { level(name, keepsUnderscore: false) }

    static func elements(_ names: [(id: Int8, name: String)]) -> [Int8: String] {
        let plain = Dictionary(grouping: names) { level($0.name) }
        var levels: [Int8: String] = [:]
        var taken: Set<String> = []
        for (id, name) in names {
            // Two names that differ only in case.
            let isShared = plain[level(name)].map { $0.count > 1 } ?? false
            var text = level(name, isMarked: isShared || name.lowercased() == Reserved.availability)
            // Two hashes may share their four digits.
            if !taken.insert(text).inserted {
                text = "\(level(name, isMarked: true))-\(id)"
                while !taken.insert(text).inserted { text += "-" }
            }
            levels[id] = text
        }
        return levels
    }

    /// Levels with a fixed meaning in the places of names.
    enum Reserved {
        /// For bridges, in the place of a service's name.
        static let bridge = "bridge"
        /// For services given by host and port, in the place of a service's name.
        static let address = "address"
        /// For the availability, in the place of an element's name.
        static let availability = "availability"
    }

    /// - Parameter isMarked: whether to add the hash in any case.
    private static func level(_ name: String, keepsUnderscore: Bool = true, isMarked: Bool = false) -> String {
        var level: [UInt8] = []
        var wasReplaced = name.isEmpty
        for scalar in name.unicodeScalars {
            switch scalar {
            case "a"..."z", "0"..."9", "-": level.append(UInt8(scalar.value))
            case "A"..."Z": level.append(UInt8(scalar.value) + 0x20)
            case "_" where keepsUnderscore: level.append(UInt8(scalar.value))
            default:
                wasReplaced = true
                // One hyphen for a run of replaced characters: the hash covers them.
                if level.last != UInt8(ascii: "-") { level.append(UInt8(ascii: "-")) }
            }
        }
        let isLong = level.count > longest
        guard wasReplaced || isMarked || isLong || hasHash(level) else { return String(decoding: level, as: UTF8.self) }
        let stem = String(decoding: level.prefix(longest), as: UTF8.self)
        return stem + (stem.hasSuffix("-") ? "" : "-") + hash(name)
    }

    /// The maximum length of a level without its hash: a topic has four levels, and names may have 255 characters.
    private static let longest = 64

    private static func hasHash(_ level: [UInt8]) -> Bool {
        let end = level.suffix(5)
        return end.count == 5 && end.first == UInt8(ascii: "-")
            && end.dropFirst().allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Four hexadecimal digits: FNV-1a of 32 bits, folded to 16.
    private static func hash(_ name: String) -> String {
        let hash = name.utf8.fnv1a
        let digits = String((hash >> 16) ^ (hash & 0xFFFF), radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension StringProtocol {
    /// Whether it is a valid level of `a`…`z`, digits, `_` and `-`.
    var isTopicLevel: Bool {
        !isEmpty && allSatisfy { $0 == "_" || $0 == "-" || $0.isASCII && ($0.isLowercase || $0.isNumber) }
    }
}
