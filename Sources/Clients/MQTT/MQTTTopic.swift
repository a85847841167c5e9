import Support

/// The name of a topic to publish to: 1 to 65,535 bytes of UTF-8 without wildcards.
///
/// It is checked and encoded once, so that publishing to it again costs nothing.
public struct MQTTTopic: Sendable, Hashable, CustomStringConvertible {
    /// The length in two bytes, big-endian, and the name.
    let encoded: [UInt8]

    /// Checks a name.
    ///
    /// Control characters and noncharacters are refused too, although MQTT does not forbid them: mosquitto closes the
    /// connection over them, without a reason.
    ///
    /// - Throws: ``MQTTError/Code/invalidTopic``.
    public init(_ name: String) throws(MQTTError) {
        try Self.check(name, "topic")
        if let wildcard = name.utf8.first(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }) {
            throw MQTTError(
                .invalidTopic,
                "the topic '\(name)' contains \(Unicode.Scalar(wildcard)), which only topic filters may contain")
        }
        encoded = [UInt8(name.utf8.count >> 8), UInt8(name.utf8.count & 0xFF)] + name.utf8
    }

    /// The name of the topic.
    public var name: String { String(decoding: encoded.dropFirst(2), as: UTF8.self) }

    /// The name of the topic.
    public var description: String { name }
}

extension MQTTTopic {
    private static func check(_ name: String, _ what: String) throws(MQTTError) {
        guard !name.isEmpty else { throw MQTTError(.invalidTopic, "a \(what) must not be empty") }
        guard name.utf8.count <= 65535 else {
            throw MQTTError(.invalidTopic, "a \(what) must have at most 65535 bytes, not \(name.utf8.count)")
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

    /// Checks a filter: `+` stands for one whole level, and `#` at the end for all further levels.
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
