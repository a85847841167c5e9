import NIOCore

/// Bounds what connections may cost a service before their peers have proven who they are: how many there are, and how
/// many TLS handshakes begin each second. Takes times, returns decisions. No sockets, no timers.
///
/// Everything is counted for each address, for each IPv6 network (a /64, which one attacker may own) and in all. A host
/// of which a device was authorised within the last hour counts for itself alone, so that a flood from other hosts
/// does not keep it out.
struct UnauthorisedConnections: Sendable {
    /// How many of something there may be: connections at a time, or handshakes each second.
    struct Bounds: Sendable {
        var perHost: Int
        var perNetwork: Int
        var inAll: Int
    }

    static let connections = Bounds(perHost: 8, perNetwork: 32, inAll: 64)
    static let handshakesPerSecond = Bounds(perHost: 5, perNetwork: 20, inAll: 50)
    /// For how long a host is remembered after one of its devices was authorised.
    static let reservationTime = TimeAmount.hours(1)
    /// The number of such hosts; beyond it the oldest is forgotten.
    static let maximumReservationCount = 1024

    /// Identifies a connection.
    typealias ID = ObjectIdentifier

    private struct Place {
        let host: PeerHost
        /// Whether it counts for its host alone.
        let isReserved: Bool
    }

    private var places: [ID: Place] = [:]
    /// The places that are not reserved.
    private var count = 0
    private var hosts: [PeerHost: Int] = [:]
    private var networks: [UInt64: Int] = [:]
    private var handshakes = RateLimit(perSecond: handshakesPerSecond.inAll)
    private var hostHandshakes = RateLimits<PeerHost>(perSecond: handshakesPerSecond.perHost)
    private var networkHandshakes = RateLimits<UInt64>(perSecond: handshakesPerSecond.perNetwork)
    private var reservations: [PeerHost: NIODeadline] = [:]

    /// How many hosts and networks are remembered for the handshakes that they began.
    var rememberedCount: Int { hostHandshakes.count + networkHandshakes.count }

    /// A connection was accepted.
    ///
    /// - Returns: `false` if there are too many; close it then.
    mutating func add(_ id: ID, from host: PeerHost, at now: NIODeadline) -> Bool {
        guard hosts[host, default: 0] < Self.connections.perHost else { return false }
        let place = Place(host: host, isReserved: isReserved(host, at: now))
        if !place.isReserved {
            guard count < Self.connections.inAll else { return false }
            if let network = host.network {
                guard networks[network, default: 0] < Self.connections.perNetwork else { return false }
                networks[network, default: 0] += 1
            }
            count += 1
        }
        hosts[host, default: 0] += 1
        places[id] = place
        return true
    }

    /// The connection has a session now, or was closed.
    mutating func remove(_ id: ID) {
        guard let place = places.removeValue(forKey: id) else { return }
        hosts.decrement(place.host)
        guard !place.isReserved else { return }
        if let network = place.host.network { networks.decrement(network) }
        count -= 1
    }

    /// Whether a connection may begin a TLS handshake. Close it if not.
    mutating func beginHandshake(_ id: ID, at now: NIODeadline) -> Bool {
        guard let place = places[id], hostHandshakes.allows(place.host, at: now) else { return false }
        if !place.isReserved {
            let network = place.host.network
            if let network, !networkHandshakes.allows(network, at: now) { return false }
            guard handshakes.take(at: now) else { return false }
            if let network { networkHandshakes.take(network, at: now) }
        }
        hostHandshakes.take(place.host, at: now)
        return true
    }

    /// A device of that host was authorised.
    mutating func reserve(_ id: ID, at now: NIODeadline) {
        guard let host = places[id]?.host else { return }
        reservations[host] = now
        guard reservations.count > Self.maximumReservationCount else { return }
        if let oldest = reservations.min(by: { $0.value < $1.value }) { reservations[oldest.key] = nil }
    }

    private mutating func isReserved(_ host: PeerHost, at now: NIODeadline) -> Bool {
        guard let time = reservations[host] else { return false }
        if now - time < Self.reservationTime { return true }
        reservations[host] = nil
        return false
    }
}

extension Dictionary where Value == Int {
    fileprivate mutating func decrement(_ key: Key) {
        let count = self[key, default: 1] - 1
        self[key] = count == 0 ? nil : count
    }
}
