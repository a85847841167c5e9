package import NIOCore
import NIOPosix

/// A number that is no port: SwiftNIO traps on it, or the system's resolver takes another number for it.
package struct InvalidPort: Error, CustomStringConvertible {
    package let description: String

    package static func check(_ port: Int) throws(InvalidPort) {
        guard !(0...65_535).contains(port) else { return }
        throw InvalidPort(description: "\(port) is not a port; use one of 0 to 65535")
    }
}

/// Where to listen.
package enum ListeningAddress {
    /// Resolves a host name or parses an IP address.
    ///
    /// SwiftNIO's `bind(host:port:)` resolves names on the calling thread, which an unresponsive resolver blocks for
    /// many seconds.
    package static func find(_ host: String, port: Int) async throws -> SocketAddress {
        try InvalidPort.check(port)
        if let address = try? SocketAddress(ipAddress: host, port: port) { return address }
        return try await NIOThreadPool.singleton.runIfActive {
            try SocketAddress.makeAddressResolvingHost(host, port: port)
        }
    }

    /// Binds to all of this machine's addresses: with one socket for both families, or with IPv4's where there is no IPv6.
    ///
    /// The resolver is not asked: it refuses "::" on a machine that has IPv6 nowhere, or on its loopback interface only.
    package static func bindToAll<Bound>(
        port: Int, _ bind: (SocketAddress) async throws -> Bound
    ) async throws -> Bound {
        try InvalidPort.check(port)
        do {
            return try await bind(SocketAddress(ipAddress: "::", port: port))
        } catch let error as IOError where [EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.errnoCode) {
            return try await bind(SocketAddress(ipAddress: "0.0.0.0", port: port))
        }
    }
}
