internal import Support

/// Where a server listens, and whether it speaks TLS.
package struct ServerEndpoint: Sendable, Hashable {
    /// A host name in ASCII, or an address, without the brackets of an IPv6 address.
    package let host: String
    package let port: Int
    package let isSecure: Bool

    package init(host: String, port: Int, isSecure: Bool) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
    }

    /// Host and port as a URL has them.
    ///
    /// - Parameter defaultPort: the port that is left out.
    package func authority(defaultPort: Int) -> String {
        port == defaultPort ? host.hostInURL : host.withPort(port)
    }
}
