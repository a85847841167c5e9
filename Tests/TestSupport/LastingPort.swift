import Synchronization

/// Ports that stay free between two uses, as for a service that is stopped and started again.
///
/// They lie below those that the system gives to outgoing connections. One of these could take the port in between: that
/// of another test, or of the very client that tries to reconnect, which the system then connects to itself.
public enum LastingPort {
    private static let range = 12_000..<30_000
    private static let last = Atomic(Int.random(in: range))

    /// A port at which nothing listens at the moment, over TCP and UDP. No other of the last 18,000 calls of this process
    /// returned it.
    public static func next() throws -> Int {
        for _ in 0..<100 {
            let count = last.wrappingAdd(1, ordering: .relaxed).newValue
            let port = range.lowerBound + count % range.count
            if (try? RawSocket.listen(port: port)) != nil, (try? RawSocket.datagram(port: port)) != nil { return port }
        }
        throw TestSupportError("no port between \(range.lowerBound) and \(range.upperBound) is free")
    }
}
