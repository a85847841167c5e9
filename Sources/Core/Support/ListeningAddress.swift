package import NIOCore
import NIOPosix

/// The error for a number outside 0...65535. SwiftNIO traps on such numbers, or the system's resolver uses another
/// port.
package struct InvalidPort: Error, CustomStringConvertible {
    package let description: String

    package static func check(_ port: Int) throws(InvalidPort) {
        guard !(0...65_535).contains(port) else { return }
        throw InvalidPort(description: "\(port) is not a port; use one of 0 to 65535")
    }
}

/// Finds addresses to listen on.
package enum ListeningAddress {
    /// Resolves a host name or parses an IP address.
    ///
    /// SwiftNIO's `bind(host:port:)` resolves names on the calling thread; an unresponsive resolver blocks it for many
    /// seconds.
    package static func find(_ host: String, port: Int) async throws -> SocketAddress {
        try InvalidPort.check(port)
        if let address = try? SocketAddress(ipAddress: host, port: port) { return address }
        return try await NIOThreadPool.singleton.runIfActive {
            try SocketAddress.makeAddressResolvingHost(host, port: port)
        }
    }

    /// Binds to all of this machine's addresses: with one socket for both families, or with an IPv4 socket if the
    /// machine has no IPv6.
    ///
    /// This does not use the resolver, which refuses "::" on a machine without IPv6 or with IPv6 on its loopback
    /// interface only.
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
