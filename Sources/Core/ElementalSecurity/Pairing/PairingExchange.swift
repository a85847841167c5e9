import ElementalWire

/// The data that a pairing binds CPace to, the same at both ends: the two fingerprints, the service, the requested and
/// the granted role, and this one exchange.
struct PairingExchange {
    /// The size of a nonce in bytes; each end sends one.
    static let nonceByteCount = 16
    /// The size of a point in bytes.
    static let pointByteCount = 32
    /// The size of a tag in bytes.
    static let tagByteCount = 32

    /// The client's fingerprint, which TLS has proved.
    let client: Fingerprint
    /// The service's fingerprint, which TLS has proved. A man in the middle has another one.
    let service: Fingerprint
    let serviceName: String
    let kind: PairingSecret.Kind
    let serviceNonce: [UInt8]
    let clientNonce: [UInt8]

    /// Begins CPace for one of the two ends.
    func cpace(_ secret: PairingSecret, associatedData: [UInt8], scalar: [UInt8]) -> CPace {
        CPace(
            password: secret.bytes, channel: channel, session: serviceNonce + clientNonce,
            associatedData: associatedData, scalar: scalar)
    }

    private var channel: [UInt8] {
        CPace.concatenate([
            Array("elemental-pair-1".utf8), Array("client".utf8), client.bytes, Array("service".utf8), service.bytes,
            Array(serviceName.utf8), [kind.rawValue],
        ])
    }

    /// The client's associated data. Key confirmation proves that the service has received it.
    static func clientData(role: Role, name: String) -> [UInt8] { data("client", role, name) }

    /// The service's associated data. Key confirmation proves that the client has received it. It never equals the
    /// client's data, so that an end's tag cannot replace the other's.
    static func serviceData(role: Role, name: String) -> [UInt8] { data("service", role, name) }

    private static func data(_ end: String, _ role: Role, _ name: String) -> [UInt8] {
        CPace.concatenate([Array(end.utf8), [role.code], Array(name.utf8)])
    }

    /// The tags with which the ends prove that they have the same key (the draft's explicit key confirmation).
    func tags(
        key: consuming [UInt8], client: CPace.Message, service: CPace.Message
    ) -> (client: [UInt8], service: [UInt8]) {
        var macKey = Primitives.sha512(Array("CPaceMac".utf8) + serviceNonce + clientNonce + key)
        defer {
            Primitives.erase(&key)
            Primitives.erase(&macKey)
        }
        func tag(_ message: CPace.Message) -> [UInt8] {
            let bytes = CPace.concatenate([message.point, message.associatedData])
            return Array(Primitives.hmacSHA512(key: macKey, bytes).prefix(Self.tagByteCount))
        }
        return (tag(client), tag(service))
    }
}
