internal import NIOCore
package import NIOSSL
internal import Support

/// The TLS context for the connections of one client, made when it is first needed: reading the system's certificates
/// takes some milliseconds.
package final class TLSContext: Sendable {
    private let configuration: TLSConfiguration?
    private let context = Locked<NIOSSLContext?>(nil)

    package init(_ configuration: TLSConfiguration?) { self.configuration = configuration }

    func handler(for host: String) throws -> NIOSSLClientHandler {
        let context = try context.withLock { context in
            if let context { return context }
            let made = try NIOSSLContext(configuration: configuration ?? .makeClientConfiguration())
            context = made
            return made
        }
        // TLS sends names of hosts, not addresses (RFC 6066, 3). An address is verified against the certificate all the
        // same.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}

extension TLSConfiguration {
    /// Trusts certificates in addition to those that are trusted already.
    ///
    /// - Parameter pem: the content of a file with one or more certificates in PEM form.
    /// - Throws: the TLS library's error if there is no certificate in it.
    package mutating func trust(pem: some Sequence<UInt8>) throws {
        additionalTrustRoots.append(.certificates(try NIOSSLCertificate.fromPEMBytes(Array(pem))))
    }
}
