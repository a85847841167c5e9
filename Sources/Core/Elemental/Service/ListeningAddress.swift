package import NIOCore
import NIOPosix

/// Where to listen.
package enum ListeningAddress {
    /// Resolves a host name or parses an IP address.
    ///
    /// SwiftNIO's `bind(host:port:)` resolves names on the calling thread, which an unresponsive resolver blocks for
    /// many seconds.
    package static func find(_ host: String, port: Int) async throws -> SocketAddress {
        if let address = try? SocketAddress(ipAddress: host, port: port) { return address }
        return try await NIOThreadPool.singleton.runIfActive {
            try SocketAddress.makeAddressResolvingHost(host, port: port)
        }
    }
}
