import ElementalWire

/// The names that a device sends on a serial line, after its hello and before its catalogue.
///
/// `serviceLength UInt8 · service · nameLength UInt8 · name`, UTF-8, each of at most 63 bytes. If the name is empty,
/// the peer chooses one. An identity is never sent on the network, where the service's listing has both names.
public struct SerialIdentity: Sendable, Hashable {
    /// The identifier of its frame.
    public static var id: Int8 { -15 }

    /// The service's name, such as `thermostat`.
    public let service: String
    /// The name that people see; may be empty.
    public let displayName: String

    /// Reads an identity; `nil` if the bytes are not one.
    public init?(wireBytes bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let serviceBytes = reader.countedBytes(), let nameBytes = reader.countedBytes(),
            (1...63).contains(serviceBytes.count), nameBytes.count <= 63,
            let service = String(wireBytes: serviceBytes), let displayName = String(wireBytes: nameBytes)
        else { return nil }
        self.service = service
        self.displayName = displayName
    }

    /// How many bytes of a name are sent.
    static func byteCount(of name: String) -> Int { min(name.utf8ByteCount, 63) }

    /// How many bytes an identity of these names has.
    static func byteCount(_ service: String, _ displayName: String) -> Int {
        2 + byteCount(of: service) + byteCount(of: displayName)
    }
}
