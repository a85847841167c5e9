import ElementalWire

/// What CPace is bound to in a pairing, derived alike by both ends: who they are, which service it is about, which role is
/// wanted and granted, and this one exchange.
struct PairingExchange {
    /// Bytes of a nonce; each end gives one.
    static let nonceByteCount = 16
    /// Bytes of a point.
    static let pointByteCount = 32
    /// Bytes of a tag.
    static let tagByteCount = 32

    /// The client's fingerprint, as TLS proved it.
    let client: Fingerprint
    /// The service's fingerprint, as TLS proved it. A man in the middle has another one.
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

    /// What the client is sure that the service received.
    static func clientData(role: Role, name: String) -> [UInt8] { data("client", role, name) }

    /// What the service is sure that the client received. It never equals the client's, so that neither end's tag can
    /// stand for the other's.
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
