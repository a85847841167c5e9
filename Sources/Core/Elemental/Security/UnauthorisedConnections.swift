import NIOCore
import Support

/// Limits what connections cost a service before their peers are authenticated.
///
/// Everything is counted per address, per IPv6 network (a /64, which one attacker may own) and in total. A host where a
/// device was authorised within the last hour is counted only by itself, so that a flood does not keep it out.
struct UnauthorisedConnections: Sendable {
    enum Scope: Hashable {
        case reservedHost(IPAddress), host(IPAddress), network(UInt64), all
    }

    struct Bounds: Sendable {
        var perHost: Int
        var perNetwork: Int
        var total: Int
        /// For a host where a device was authorised.
        var perReservedHost: Int

        subscript(scope: Scope) -> Int {
            switch scope {
            case .reservedHost: perReservedHost
            case .host: perHost
            case .network: perNetwork
            case .all: total
            }
        }
    }

    static let connections = Bounds(perHost: 8, perNetwork: 32, total: 64, perReservedHost: 8)
    /// For connections that end without a session. Beyond this rate a flood is closed where it is accepted, before it
    /// costs the service's loop anything.
    static let wastedPerSecond = Bounds(perHost: 20, perNetwork: 80, total: 200, perReservedHost: 20)
    /// A script on a host where a device was authorised may connect for every value.
    static let handshakesPerSecond = Bounds(perHost: 5, perNetwork: 20, total: 50, perReservedHost: 50)
    /// How long a host is remembered after one of its devices was authorised.
    static let reservationTime = TimeAmount.hours(1)
    static let maximumReservationCount = 1024

    private struct Place {
        let host: IPAddress
        let scopes: [Scope]
    }

    private var places: [ObjectIdentifier: Place] = [:]
    private var handshakes = RateLimits { handshakesPerSecond[$0] }
    private var wasted = RateLimits { wastedPerSecond[$0] }
    private var reservations: [IPAddress: NIODeadline] = [:]

    var rememberedCount: Int { handshakes.count + wasted.count }

    /// - Returns: `false` if there are too many connections; close this one then.
    mutating func add(_ id: ObjectIdentifier, from host: IPAddress, at now: NIODeadline) -> Bool {
        guard places.values.count(where: { $0.host == host }) < Self.connections.perHost else { return false }
        let scopes: [Scope] =
            isReserved(host, at: now)
            ? [.reservedHost(host)] : [.host(host), .all] + (host.network.map { [.network($0)] } ?? [])
        guard wasted.allows(scopes, at: now) else { return false }
        for scope in scopes {
            let count = places.values.count { $0.scopes.contains(scope) }
            guard count < Self.connections[scope] else { return false }
        }
        places[id] = Place(host: host, scopes: scopes)
        return true
    }

    mutating func remove(_ id: ObjectIdentifier) { places[id] = nil }

    mutating func waste(_ id: ObjectIdentifier, at now: NIODeadline) {
        guard let place = places.removeValue(forKey: id) else { return }
        wasted.take(place.scopes, at: now)
    }

    /// Whether a connection may begin a TLS handshake. Close it if not.
    mutating func beginHandshake(_ id: ObjectIdentifier, at now: NIODeadline) -> Bool {
        guard let place = places[id], handshakes.allows(place.scopes, at: now) else { return false }
        handshakes.take(place.scopes, at: now)
        return true
    }

    mutating func reserve(_ id: ObjectIdentifier, at now: NIODeadline) {
        guard let host = places[id]?.host else { return }
        reservations[host] = now
        guard reservations.count > Self.maximumReservationCount else { return }
        if let oldest = reservations.min(by: { $0.value < $1.value }) { reservations[oldest.key] = nil }
    }

    private mutating func isReserved(_ host: IPAddress, at now: NIODeadline) -> Bool {
        guard let time = reservations[host] else { return false }
        if now - time < Self.reservationTime { return true }
        reservations[host] = nil
        return false
    }
}

/// A token bucket: allows a number of events per second, and as many at once after a pause. No timers.
struct RateLimit: Sendable {
    private let perSecond: Int
    /// When the bucket is full again.
    private var recovery = NIODeadline.uptimeNanoseconds(0)

    init(perSecond: Int) { self.perSecond = perSecond }

    private var interval: TimeAmount { .nanoseconds(1_000_000_000 / Int64(perSecond)) }

    func isFull(at now: NIODeadline) -> Bool { recovery <= now }

    func allows(at now: NIODeadline) -> Bool { max(recovery, now) + interval <= now + .seconds(1) }

    @discardableResult
    mutating func take(at now: NIODeadline) -> Bool {
        guard allows(at: now) else { return false }
        recovery = max(recovery, now) + interval
        return true
    }
}

/// A token bucket per key. Full ones are evicted.
struct RateLimits<Key: Hashable & Sendable>: Sendable {
    private let perSecond: @Sendable (Key) -> Int
    private var limits: [Key: RateLimit] = [:]
    private var searchCount = 64

    init(perSecond: @escaping @Sendable (Key) -> Int) { self.perSecond = perSecond }

    var count: Int { limits.count }

    func allows(_ keys: [Key], at now: NIODeadline) -> Bool {
        keys.allSatisfy { limits[$0]?.allows(at: now) != false }
    }

    mutating func take(_ keys: [Key], at now: NIODeadline) {
        for key in keys { limits[key, default: RateLimit(perSecond: perSecond(key))].take(at: now) }
        guard limits.count > searchCount else { return }
        limits = limits.filter { !$0.value.isFull(at: now) }
        searchCount = max(64, 2 * limits.count)
    }
}

/// The limits on connections without a session, shared by the loop that accepts and the service's own.
final class AcceptLimits: Sendable {
    private let connections = Locked(UnauthorisedConnections())
    private let now: @Sendable () -> NIODeadline

    init(now: @escaping @Sendable () -> NIODeadline) { self.now = now }

    func add(_ channel: any Channel) -> Bool {
        let host = channel.remoteAddress.flatMap { IPAddress($0) } ?? .unknown
        return connections.withLock { $0.add(ObjectIdentifier(channel), from: host, at: now()) }
    }

    func remove(_ id: ObjectIdentifier) { connections.withLock { $0.remove(id) } }

    func waste(_ id: ObjectIdentifier) { connections.withLock { $0.waste(id, at: now()) } }

    func beginHandshake(_ id: ObjectIdentifier) -> Bool {
        connections.withLock { $0.beginHandshake(id, at: now()) }
    }

    func reserve(_ id: ObjectIdentifier) { connections.withLock { $0.reserve(id, at: now()) } }
}

/// Closes excess connections before anything is set up for them. A handler of the server channel.
final class AcceptLimitHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let limits: AcceptLimits

    init(_ limits: AcceptLimits) { self.limits = limits }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        guard limits.add(channel) else { return channel.close(promise: nil) }
        let id = ObjectIdentifier(channel)
        // This has no effect if the connection got a session.
        channel.closeFuture.whenComplete { [limits] _ in limits.waste(id) }
        context.fireChannelRead(data)
    }
}
