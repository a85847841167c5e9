import Glibc
import Support
import Synchronization

/// Ports that belong to a test until the tests' process ends, for servers that stop and return at the same port.
///
/// The lease is a socket that is bound to the port and does not listen. The system then gives the port to no outgoing
/// connection and to no server that lets it choose, and no other process can lease it. A server with SO_REUSEADDR, as all of
/// ours and the brokers', can listen at it.
public enum PortLease {
    /// Below the ports that the system chooses: nothing holds these for UDP by chance either.
    private static let range = 12_000..<30_000
    private static let last = Atomic(Int.random(in: range))
    private static let leases = Locked<[RawSocket]>([])

    /// A port that is now leased and free, over TCP and UDP.
    public static func port() throws -> Int {
        for _ in 0..<range.count {
            let port = range.lowerBound + last.wrappingAdd(1, ordering: .relaxed).newValue % range.count
            guard let lease = try? RawSocket.lease(port: port), (try? RawSocket.datagram(port: port)) != nil else {
                continue
            }
            leases.withLock { $0.append(lease) }
            return again(port)
        }
        throw TestSupportError("no port between \(range.lowerBound) and \(range.upperBound) is free")
    }

    /// The same port, to be listened at again by this process, which has closed its sockets there.
    ///
    /// A child process has a copy of every socket until it runs its own program: one that another test starts at that moment
    /// would keep the port taken. Those that ``ProcessSpawn`` starts are waited for; those of exit tests are not known, so
    /// the port is tried until it is free.
    public static func again(_ port: Int) -> Int {
        ProcessSpawn.waitForChildrenThatBegin()
        guard port != 0 else { return port }
        let end = ContinuousClock.now + .seconds(5)
        while ContinuousClock.now < end {
            if (try? RawSocket.listen(port: port)) != nil, (try? RawSocket.datagram(port: port)) != nil { break }
            usleep(2000)
        }
        return port
    }
}
