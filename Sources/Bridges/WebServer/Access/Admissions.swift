internal import Support

/// Counts the connections of each client, and decides whether another one is allowed. It has no sockets.
struct Admissions {
    private let limits: WebServerLimits
    private var clients: [IPAddress: Int] = [:]
    private var loopbackCount = 0
    private(set) var count = 0

    init(_ limits: WebServerLimits) { self.limits = limits }

    /// The number of clients with connections, besides this machine.
    var clientCount: Int { clients.count }

    mutating func admit(_ host: IPAddress) -> Bool {
        let isAllowed =
            host.isLoopback
            ? loopbackCount < limits.maximumLoopbackConnections
            : clients[host.client, default: 0] < limits.maximumConnectionsPerHost
        guard isAllowed, count < limits.maximumConnections else { return false }
        count += 1
        if host.isLoopback { loopbackCount += 1 } else { clients[host.client, default: 0] += 1 }
        return true
    }

    mutating func release(_ host: IPAddress) {
        count -= 1
        if host.isLoopback {
            loopbackCount -= 1
        } else if let count = clients[host.client] {
            clients[host.client] = count > 1 ? count - 1 : nil
        }
    }
}
