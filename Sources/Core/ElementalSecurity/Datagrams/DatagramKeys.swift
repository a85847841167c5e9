/// The keys of a connection's sealed datagrams, one per direction, derived from the secrets that both ends exchanged
/// over TLS.
package struct DatagramKeys: Sendable {
    /// 32 bytes.
    package let toService: [UInt8]
    /// 32 bytes.
    package let toClient: [UInt8]

    /// Derives the keys with HKDF-SHA-256.
    ///
    /// - Parameters:
    ///   - clientSecret: the client's 32 random bytes.
    ///   - serviceSecret: the service's 32 random bytes.
    ///   - client: the client's fingerprint, which binds the keys to these two ends.
    ///   - service: the service's fingerprint.
    package init(clientSecret: [UInt8], serviceSecret: [UInt8], client: Fingerprint, service: Fingerprint) {
        let both = Primitives.hkdfSHA256(
            secret: clientSecret + serviceSecret, salt: [],
            info: Array("elemental datagrams 1".utf8) + client.bytes + service.bytes, byteCount: 64)
        toService = Array(both[..<32])
        toClient = Array(both[32...])
    }
}
