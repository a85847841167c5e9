/// Makes the certificate in which TLS sends an Ed25519 key (RFC 5280, RFC 8410).
///
/// Peers check only the key. The other fields satisfy other TLS implementations: validity from 1970 to 9999, because a
/// Raspberry Pi may have no clock; `elemental` as issuer and subject.
enum SelfSignedCertificate {
    private static let name = "elemental"

    /// Makes a certificate of the key, DER.
    ///
    /// - Parameters:
    ///   - seed: the private key, 32 bytes.
    ///   - serialNumber: 16 bytes.
    static func make(seed: [UInt8], serialNumber: [UInt8]) -> [UInt8] {
        let signed = DERWriter.value(
            DERTag.sequence,
            [
                DERWriter.value(DERTag.version, DERWriter.value(DERTag.integer, [2])),
                DERWriter.value(DERTag.integer, positive(serialNumber)),
                algorithm, distinguishedName, validity, distinguishedName,
                PublicKeyInfo.ed25519(Primitives.ed25519PublicKey(seed: seed)),
                DERWriter.value(DERTag.extensions, DERWriter.value(DERTag.sequence, [basicConstraints, keyUsage])),
            ])
        let signature = Primitives.ed25519Signature(of: signed, seed: seed)
        return DERWriter.value(DERTag.sequence, [signed, algorithm, DERWriter.bitString(signature)])
    }

    /// The contents of a positive integer: a first byte from 1 to 127, so that it is neither negative nor longer than
    /// needed.
    private static func positive(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes[0] = bytes[0] & 0x3F | 0x40
        return bytes
    }

    private static let algorithm = DERWriter.value(DERTag.sequence, PublicKeyInfo.ed25519Identifier)

    /// One attribute: the common name (2.5.4.3).
    private static let distinguishedName = DERWriter.value(
        DERTag.sequence,
        DERWriter.value(
            DERTag.set,
            DERWriter.value(
                DERTag.sequence,
                [
                    DERWriter.value(DERTag.objectIdentifier, [0x55, 0x04, 0x03]),
                    DERWriter.value(DERTag.utf8String, Array(name.utf8)),
                ])))

    /// From 1970 to the date that RFC 5280 (section 4.1.2.5) defines as no expiry.
    private static let validity = DERWriter.value(
        DERTag.sequence,
        [
            DERWriter.value(DERTag.utcTime, Array("700101000000Z".utf8)),
            DERWriter.value(DERTag.generalizedTime, Array("99991231235959Z".utf8)),
        ])

    /// 2.5.29.19, critical: not a certificate authority. That is the default, so the sequence is empty.
    private static let basicConstraints = criticalExtension([0x55, 0x1D, 0x13], [DERTag.sequence, 0])

    /// 2.5.29.15, critical: digitalSignature, bit 0 of a string of one bit.
    private static let keyUsage = criticalExtension([0x55, 0x1D, 0x0F], [DERTag.bitString, 2, 7, 0x80])

    private static func criticalExtension(_ identifier: [UInt8], _ value: [UInt8]) -> [UInt8] {
        DERWriter.value(
            DERTag.sequence,
            [
                DERWriter.value(DERTag.objectIdentifier, identifier),
                DERWriter.value(DERTag.boolean, [0xFF]),
                DERWriter.value(DERTag.octetString, value),
            ])
    }
}
