package import NIOCore
import NIOPosix

/// Where to listen.
package enum ListeningAddress {
    /// The address that a host's name or an address in text stands for.
    ///
    /// SwiftNIO's `bind(host:port:)` looks names up on the thread of its caller, which a resolver that does not answer
    /// keeps for many seconds.
    package static func find(_ host: String, port: Int) async throws -> SocketAddress {
        if let address = try? SocketAddress(ipAddress: host, port: port) { return address }
        return try await NIOThreadPool.singleton.runIfActive {
            try SocketAddress.makeAddressResolvingHost(host, port: port)
        }
    }
}
