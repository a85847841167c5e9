import Support

/// What topics and topic filters may contain.
enum TopicRules {
    /// Checks what both have in common.
    static func check(_ name: String, _ what: String) throws(MQTTError) {
        guard !name.isEmpty else { throw MQTTError(.invalidTopic, "a \(what) must not be empty") }
        guard name.utf8.count <= 65535 else {
            throw MQTTError(.invalidTopic, "a \(what) has at most 65535 bytes, and this one \(name.utf8.count)")
        }
        for scalar in name.unicodeScalars {
            let isControl = scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value
            guard !isControl, !scalar.properties.isNoncharacterCodePoint else {
                throw MQTTError(
                    .invalidTopic,
                    "the \(what) '\(name.printable)' contains the character U+"
                        + String(scalar.value, radix: 16, uppercase: true) + ", which brokers refuse")
            }
        }
    }

    /// Checks a filter: `+` stands for one whole level, `#` for all further ones at the end.
    ///
    /// - Throws: ``MQTTError/Code/invalidTopic``.
    static func check(filter: String) throws(MQTTError) {
        try check(filter, "topic filter")
        let levels = filter.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() {
            let many = level.contains(UInt8(ascii: "#"))
            guard !many || (level.count == 1 && index == levels.count - 1) else {
                throw MQTTError(
                    .invalidTopic, "in the topic filter '\(filter)' the # must be the last level, and alone in it")
            }
            guard !level.contains(UInt8(ascii: "+")) || level.count == 1 else {
                throw MQTTError(.invalidTopic, "in the topic filter '\(filter)' a + must be alone in its level")
            }
        }
    }
}
