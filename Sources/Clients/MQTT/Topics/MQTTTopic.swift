/// The name of a topic that is published to: 1 to 65,535 bytes of UTF-8 without wildcards.
///
/// It is checked once and kept as the bytes of a packet, so that publishing to it again costs nothing.
public struct MQTTTopic: Sendable, Hashable, CustomStringConvertible {
    /// The length in two bytes, most significant first, and the name.
    let encoded: [UInt8]

    /// Checks a name.
    ///
    /// Beyond what MQTT forbids, control characters and noncharacters are refused: mosquitto closes the connection over
    /// them, which would say less.
    ///
    /// - Throws: ``MQTTError/Code/invalidTopic``.
    public init(_ name: String) throws(MQTTError) {
        try TopicRules.check(name, "topic")
        if let wildcard = name.utf8.first(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }) {
            throw MQTTError(
                .invalidTopic,
                "the topic '\(name)' contains \(Unicode.Scalar(wildcard)), which is for subscriptions only")
        }
        let bytes = name.utf8
        var encoded: [UInt8] = []
        encoded.reserveCapacity(2 + bytes.count)
        encoded += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
        encoded += bytes
        self.encoded = encoded
    }

    /// The name.
    public var name: String { String(decoding: encoded.dropFirst(2), as: UTF8.self) }

    /// The name.
    public var description: String { name }
}
