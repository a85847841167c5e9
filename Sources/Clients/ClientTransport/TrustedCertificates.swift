package import NIOSSL

extension TLSConfiguration {
    /// Trusts certificates in addition to those that are trusted already.
    ///
    /// - Parameter pem: the content of a file with one or more certificates in PEM form.
    /// - Throws: the TLS library's error if there is no certificate in it.
    package mutating func trust(pem: some Sequence<UInt8>) throws {
        additionalTrustRoots.append(.certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem))))
    }
}
