public import ElementalSecurity
public import ElementalWire
import Logging
public import NIOCore
import Support
import Synchronization

/// The peer of a connection: the service that a client is connected to, or a client of a service.
///
/// With ``ConnectOptions/reconnection`` a client's device outlives its connections: handlers, streams, newest values
/// and statistics are preserved, and the device ends with the last connection.
///
/// A client gets its device from `connect`; a service has one for every client. All methods may be called from any
/// thread. Handlers run on the connection's event loop, in the order in which the values were received, one at a time;
/// they must not block.
public final class ElementalDevice: Sendable {
    /// The role of the peer.
    public enum Role: Sendable, Hashable {
        /// The peer is a service; this program is its client.
        case service
        /// The peer is a client of this program's service.
        case client
    }

    /// The role of the peer.
    public let role: Role
    /// The loop on which the handlers run.
    public let eventLoop: any EventLoop
    /// The limits of the connection.
    public let limits: DeviceLimits
    let loopExecutor: LoopExecutor
    let logger: Logger
    let handlers = HandlerTable()
    let newest: NewestValues
    let outbound: BrieflyLocked<Outbound<Connection>>
    let congestion = Congestion()
    let state: Locked<DeviceState>
    /// `nil` if the peer is a client.
    let manager: NIOLoopBoundBox<any ConnectionManager>?
    /// `nil` if the program has no backend for metrics.
    let metrics: MetricsAccount?

    init(
        role: Role, name: String, address: SocketAddress?, service: String?, elements: ElementTable,
        executor: LoopExecutor, limits: DeviceLimits, logger: Logger, grantedRole: ElementalWire.Role? = nil,
        manager: NIOLoopBoundBox<any ConnectionManager>? = nil, metrics: MetricsAccount? = nil
    ) {
        self.role = role
        eventLoop = executor.eventLoop
        loopExecutor = executor
        self.limits = limits
        self.logger = logger
        self.manager = manager
        self.metrics = metrics
        state = Locked(
            DeviceState(
                identity: .init(
                    name: name, address: address, service: service, grantedRole: grantedRole, elements: elements)))
        newest = NewestValues(state)
        outbound = BrieflyLocked(
            Outbound(limit: limits.maximumQueueByteCount, readyByteCount: limits.readyQueueByteCount))
    }

    /// The peer's name: a service's instance name, or the name that a client announced.
    public var name: String { state.withLock { $0.identity.name } }
    /// The peer's address.
    public var address: SocketAddress? { state.withLock { $0.identity.address } }
    /// The service's name, such as `robot`; `nil` if a client connected by host and port.
    public var service: String? { state.withLock { $0.identity.service } }
    /// The peer's hello, or `nil` if none has arrived: an older ElementalController never sends one.
    public var hello: Hello? { state.withLock { $0.identity.hello } }
    /// The catalogue that the service announced; `nil` until it has arrived, or if it cannot be decoded.
    public var catalogue: ElementCatalogue? { state.withLock { try? $0.identity.catalogue?.get() } }
    /// The elements that this end knows: those that the program defined, or else those that the service announced.
    public var knownElements: ElementCatalogue { state.withLock { $0.identity.elements.catalogue } }
    /// The identifier in the datagrams between both ends, 1...254; 0 if there is none.
    public var udpIdentifier: UInt8 { state.withLock { $0.identity.udpIdentifier } }
    /// The role that the service grants the client, whichever of the two the peer is.
    ///
    /// A service always knows it: ``ElementalWire/Role/plain`` unless the client is paired. A client knows it if it is
    /// paired with the service; otherwise it is `nil`.
    public var grantedRole: ElementalWire.Role? { state.withLock { $0.identity.grantedRole } }

    /// The peer's proven identity; `nil` if the connection is not encrypted.
    public var fingerprint: Fingerprint? { state.withLock { $0.identity.fingerprint } }

    /// Whether values can be sent now.
    public var isConnected: Bool { outbound.withLock { $0.link != nil } }
    /// Why the device ended, or `nil` while it is connected or reconnecting.
    public var disconnectReason: DisconnectReason? { state.withLock { $0.endReason } }

    var queuedByteCount: Int { outbound.withLock { $0.stream.byteCount + $0.datagrams.byteCount } }

    /// The traffic over all connections of the device, since the first was established.
    public var statistics: DeviceStatistics {
        var statistics = state.withLock { $0.inbound.statistics }
        outbound.withLock { outbound in
            statistics.messagesSent = outbound.counts.messagesSent
            statistics.bytesSent = outbound.counts.bytesSent
            statistics.messagesReplaced = outbound.counts.messagesReplaced
            statistics.messagesUnsent = outbound.messagesUnsent
        }
        return statistics
    }

    /// Sends what is queued, closes the connection and waits until it has ended, even in a cancelled task.
    /// ``DeviceLimits/closeTimeout`` limits how long this takes.
    public func close() async {
        disconnect()
        _ = await uncancelled { try? await self.waitUntilDisconnected() }
    }

    /// Starts closing the connection once everything queued has been sent, and returns immediately.
    public func disconnect() {
        if let manager { return eventLoop.execute { manager.value.disconnect() } }
        outbound.withLock({ $0.link })?.close()
    }

    /// Ends the device: its connection has ended and will not be replaced.
    func end(_ reason: DisconnectReason) {
        outbound.withLock { $0.end(reason) }
        endMetrics()
        settleCatalogue(nil)
        let endings = state.withLock { state in
            // The first reason stands.
            state.endReason = state.endReason ?? reason
            return state.endings.takeAll()
        }
        for handler in endings { handler(reason) }
        emit(.disconnected(reason))
        finishEventStreams()
        // A device whose peer is a client never reconnects, so its handlers, which may retain it, are released.
        if role == .client { removeEventHandlers() }
    }

    /// - Parameter hasHello: whether the peer has sent a hello; if not, the hello and the catalogue of the previous
    ///   connection are discarded.
    func reopen(hasHello: Bool) {
        state.withLock { state in
            if !hasHello {
                state.identity.hello = nil
                state.identity.catalogue = nil
                state.catalogueSettled = Latch()
            }
            state.endReason = nil
            state.events.reopen()
            state.reconnectionCount += 1
        }
        beginMetrics()
    }
}

extension ElementalDevice: CustomStringConvertible {
    /// The name, escaped, and the address.
    public var description: String {
        let (name, address) = state.withLock { ($0.identity.name, $0.identity.address) }
        guard let address, address.text != name else { return name.printable }
        return "\(name.printable) (\(address.text))"
    }
}

extension ElementalDevice: Hashable {
    /// Whether both are the same object.
    public static func == (a: ElementalDevice, b: ElementalDevice) -> Bool { a === b }
    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ElementalDevice {
    /// Waits until the connection has ended and will not be replaced.
    /// - Returns: why it ended.
    /// - Throws: ``ElementalError/Code/cancelled`` if the waiting task is cancelled, which leaves the connection
    ///   untouched.
    public func waitUntilDisconnected() async throws(ElementalError) -> DisconnectReason {
        let ended = Outcome<DisconnectReason>()
        let ending = addEnding { ended.resolve($0) }
        if let reason = await ended.value() { return reason }
        ending.cancel()
        throw ElementalError(.cancelled, "the wait for the end of the connection was cancelled")
    }

    /// Calls `handler` once, on the connection's event loop, when the connection has ended and will not be replaced;
    /// immediately if that has already happened.
    @discardableResult
    public func onDisconnect(
        _ handler: @escaping @Sendable (DisconnectReason, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        addEnding { reason in handler(reason, self) }
    }

    /// Calls `handler` immediately if the device has ended.
    @discardableResult
    @usableFromInline
    func addEnding(_ handler: @escaping @Sendable (DisconnectReason) -> Void) -> HandlerRegistration {
        let (token, reason) = state.withLock { state in
            (state.endReason == nil ? state.endings.add(handler) : nil, state.endReason)
        }
        if let reason { handler(reason) }
        return HandlerRegistration { [state] in
            if let token { _ = state.withLock { $0.endings.take(token) } }
        }
    }
}
