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
            if (try? RawSocket.listen(port: port)) != nil, (try? RawSocket.datagram(port: port)) != nil {
                return again(port)
            }
        }
        throw TestSupportError("no port between \(range.lowerBound) and \(range.upperBound) is free")
    }

    /// The same port, to be listened at again by this process, which has closed its sockets there.
    ///
    /// A child process has a copy of every socket until it runs its own program: one that another test starts at that moment
    /// would keep the port taken. It has begun before the sockets were closed, so it is waited for.
    public static func again(_ port: Int) -> Int {
        ProcessSpawn.waitForChildrenThatBegin()
        return port
    }
}
