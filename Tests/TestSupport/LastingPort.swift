import Glibc
import Synchronization

/// Ports for services that are stopped and started again at the same port.
///
/// They lie below those that the system gives to outgoing connections. One of these could take the port in between: that
/// of another test, or of the very client that tries to reconnect, which the system then connects to itself.
public enum LastingPort {
    private static let range = 12_000..<30_000
    private static let last = Atomic(Int.random(in: range))

    /// A port at which nothing listens at the moment, over TCP and UDP, and which no other call in this process returned.
    public static func next() throws -> Int {
        for _ in 0..<100 {
            let count = last.wrappingAdd(1, ordering: .relaxed).newValue
            let port = range.lowerBound + count % range.count
            if [SOCK_STREAM, SOCK_DGRAM].allSatisfy({ canBind(port, $0) }) { return port }
        }
        throw TestSupportError("no port is free")
    }

    private static func canBind(_ port: Int, _ type: __socket_type) -> Bool {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        defer { _ = close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
