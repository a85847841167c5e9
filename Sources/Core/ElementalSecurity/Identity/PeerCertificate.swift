/// The public key of a peer's certificate. Names, dates, extensions and the signature are ignored: only the key is
/// trusted, and TLS proves that the peer has it.
package struct PeerCertificate: Sendable, Hashable {
    /// The maximum size of a certificate, in bytes.
    package static let maximumByteCount = 8192

    /// The SubjectPublicKeyInfo, DER.
    package let publicKey: [UInt8]
    /// The fingerprint of that key.
    package let fingerprint: Fingerprint

    /// Parses a certificate.
    ///
    /// - Parameter certificate: X.509, DER, untrusted.
    /// - Throws: ``SecurityError/Code/invalidCertificate``; ``SecurityError/Code/unsupportedKey`` for other kinds of key,
    ///   and for a P-256 key that is not encoded uncompressed.
    package init(certificate: [UInt8]) throws(SecurityError) {
        guard certificate.count <= Self.maximumByteCount, let key = Self.publicKey(of: certificate) else {
            throw SecurityError(.invalidCertificate, "the peer's certificate is not X.509 in DER")
        }
        guard PublicKeyInfo.isAccepted(key) else {
            throw SecurityError(.unsupportedKey, "the peer's key is neither Ed25519 nor P-256")
        }
        publicKey = Array(key)
        fingerprint = Fingerprint(publicKey: publicKey)
    }

    /// Finds the SubjectPublicKeyInfo (RFC 5280, section 4.1).
    private static func publicKey(of certificate: [UInt8]) -> ArraySlice<UInt8>? {
        var outer = DERReader(certificate[...])
        guard let whole = outer.next(DERTag.sequence), outer.isAtEnd else { return nil }
        var parts = DERReader(whole.contents)
        guard let signed = parts.next(DERTag.sequence), parts.next(DERTag.sequence) != nil,
            parts.next(DERTag.bitString) != nil, parts.isAtEnd
        else { return nil }

        var fields = DERReader(signed.contents)
        // Version 1 leaves it out.
        _ = fields.next(DERTag.version)
        guard fields.next(DERTag.integer) != nil,  // serial number
            fields.next(DERTag.sequence) != nil,  // signature algorithm
            fields.next(DERTag.sequence) != nil,  // issuer
            fields.next(DERTag.sequence) != nil,  // validity
            fields.next(DERTag.sequence) != nil,  // subject
            let key = fields.next(DERTag.sequence)
        else { return nil }
        // Unique identifiers and extensions are ignored, but have to be well-formed.
        while !fields.isAtEnd {
            guard let field = fields.next(), field.tag & 0xC0 == 0x80 else { return nil }
        }
        return key.encoded
    }
}
