public import Elemental
public import ElementalWire
package import NIOCore
internal import Support

/// Follows services as they come and go, each over a connection that is restored when it is lost: the base of a bridge
/// between services and something else.
///
/// ```swift
/// let follower = Follower([.service("lamp")], FollowerOptions(name: "logger"))
/// follower.onEvent { event in … }
/// try await follower.run()
/// ```
/// ``onEvent(_:room:)`` reports everything at once, on the devices' event loops.
/// ``values(_:interval:maximumByteCount:)`` delivers the values to a task at its own pace. ``set(_:of:at:timeout:)``
/// sends a value and returns the outcome.
///
/// Services are not trusted until they have authenticated: ``FollowerOptions`` bounds their number, each value and the
/// memory of all values. A follower requests the role `observe` unless the options say otherwise, pairs only when
/// ``pair(_:code:as:role:)`` is called, and rejects a service that has a paired one's name but another key.
public final class Follower: Sendable {
    typealias Observer = @Sendable (FollowerEvent) -> Void
    typealias Room = @Sendable () async -> Void

    struct Entry {
        /// The numbers of the subjects that list it.
        var subjects: Set<Int> = []
        var place: ServicePlace
        /// Alternatives for its place.
        var others: [ServicePlace] = []
        /// `nil` while the maximum number of services is followed.
        var session: FollowedService?
        /// Its newest reported state; `nil` without a session.
        var state: FollowedState?
    }

    struct State {
        var entries: [ServiceKey: Entry] = [:]
        var observers: [Observer] = []
        /// Each waits until an observer has room for another value of a history.
        var rooms: [Room] = []
        /// Receives the services to follow; `nil` before ``Follower/run()`` and after it.
        var starts: AsyncStream<FollowedService>.Continuation?
        var hasRun = false
        var count = 0
        /// The number of excess services that was last reported.
        var excess = 0
        var endings: [@Sendable () -> Void] = []
    }

    /// The maximum number of excess services, which are remembered to take the place of one that goes.
    static let maximumExcessCount = 4096

    /// The options.
    public let options: FollowerOptions
    let subjects: [ServiceSubject]
    /// The names and addresses of the followed services, as the user writes them; empty for all services.
    package var targets: [String] { subjects.compactMap(\.target) }
    let state = Locked(State())
    let memory: ByteBudget

    /// Creates a follower, which does nothing until ``run()``.
    ///
    /// - Parameter subjects: which services to follow; empty for all element services.
    public init(_ subjects: [ServiceSubject] = [], _ options: FollowerOptions) {
        self.subjects = subjects.isEmpty ? [.all] : subjects
        self.options = options
        memory = ByteBudget(options.maximumByteCount)
    }

    /// Calls `observer` with every event, on the devices' event loops or in tasks. It must not block. The events of one
    /// key come in order and one at a time. Those of different keys may come at the same time, unless there is one
    /// event loop in ``FollowerOptions/connect``. Call it before ``run()``.
    ///
    /// - Parameter room: awaited after each value of a history, before the next one is requested, so that a slow
    ///   observer makes the service wait. It must return when the task is cancelled, at the latest.
    public func onEvent(
        _ observer: @escaping @Sendable (FollowerEvent) -> Void, room: (@Sendable () async -> Void)? = nil
    ) {
        state.withLock { state in
            state.observers.append(observer)
            if let room { state.rooms.append(room) }
        }
    }

    /// Calls `observer` on the given event loop, at once if the event occurs there.
    package func onEvent(on loop: any EventLoop, _ observer: @escaping @Sendable (FollowerEvent) -> Void) {
        onEvent { event in
            if loop.inEventLoop { observer(event) } else { loop.execute { observer(event) } }
        }
    }

    /// Follows the services until the task is cancelled; then closes all connections. Call it once.
    ///
    /// - Throws: ``ElementalError`` with the code `invalidValue` for an invalid service name, `invalidState` for a
    ///   second call.
    public func run() async throws(ElementalError) {
        defer { for end in state.withLock({ $0.endings }) { end() } }
        for case .service(let service, _) in subjects { try ElementalService.check(service: service) }
        // Never more than `maximumServiceCount`: a service that has gone has to end before it makes room for another.
        let (starts, start) = AsyncStream.makeStream(of: FollowedService.self)
        let isFirst = state.withLock { state in
            defer { state.hasRun = true }
            if !state.hasRun { state.starts = start }
            return !state.hasRun
        }
        guard isFirst else { throw ElementalError(.invalidState, "a follower can run only once: create another one") }
        // Read before the first attempt, so that a change after it causes a retry.
        var trusted = TrustedServices(options.connect.security)
        // Each attempt reports a store that cannot be read.
        _ = try? await trusted?.update()
        await withDiscardingTaskGroup { group in
            for (number, subject) in subjects.enumerated() {
                switch subject {
                case .all: group.addTask { await self.browse(nil, name: nil, number) }
                case .service(let service, let name):
                    group.addTask { await self.browse(service, name: name, number) }
                case .address(let host, let port):
                    found(ServiceKey(host: host, port: port), .address(host: host, port: port), by: number)
                }
            }
            if let trusted { group.addTask { await self.watch(trusted) } }
            for await session in starts {
                group.addTask {
                    await session.run()
                    if !Task.isCancelled { self.ended(session) }
                }
            }
            group.cancelAll()
        }
        state.withLock { state in
            state.starts = nil
            state.entries = [:]
        }
    }

    /// Tries now to connect to a service that is away or refuses.
    public func retry(_ key: ServiceKey) { session(of: key)?.hurry(asked: true) }

    /// The followed services in their current state.
    public var services: [ServiceKey: ServiceSnapshot] {
        state.withLock { $0.entries }.compactMapValues { entry in
            entry.session.map { session in
                let device = session.device
                let state = entry.state ?? .connecting
                return ServiceSnapshot(
                    place: session.place, state: state, device: device,
                    catalogue: device.map { options.followed($0.knownElements) })
            }
        }
    }

    /// Returns the device of a service that is connected or reconnecting.
    public func device(of key: ServiceKey) -> ElementalDevice? { session(of: key)?.device }

    /// Returns the place of a service.
    public func place(of key: ServiceKey) -> ServicePlace? { session(of: key)?.place }

    /// Pairs with a service, with the identity in the options, and connects to it again with the role that it grants.
    ///
    /// - Parameters:
    ///   - code: what the service shows: six digits, or a long secret.
    ///   - name: the name under which the service lists this client; `nil` for the usual one.
    ///   - role: the role that this client requests.
    /// - Throws: ``ElementalError`` as `pair` of a service does, and with the code `serviceNotFound` for a service that
    ///   is not followed.
    @discardableResult
    public func pair(
        _ key: ServiceKey, code: String, as name: String? = nil, role: Role = .control
    ) async throws(ElementalError) -> TrustedService {
        guard let session = session(of: key) else {
            throw ElementalError(.serviceNotFound, "'\(key)' is not followed; wait until it is found")
        }
        let (digits, secret) = (PairingSecret(code: code), PairingSecret(secret: code))
        guard digits != nil || secret != nil else { throw Self.noCode }
        let isOtherKind = Locked(false)
        let service: TrustedService
        do throws(ElementalError) {
            service = try await session.place.pair(
                as: name ?? options.pairingName ?? options.name, role: role, options: options.connect
            ) { request in
                let entered = request.kind == .code ? digits : secret
                isOtherKind.withLock { $0 = entered == nil }
                return entered
            }
        } catch {
            throw isOtherKind.withLock { $0 } ? Self.noCode : error
        }
        session.paired(as: service.role)
        return service
    }

    private static var noCode: ElementalError {
        ElementalError(.wrongCode, "invalid code: enter the six digits or the secret that the service shows")
    }

    private func session(of key: ServiceKey) -> FollowedService? { state.withLock { $0.entries[key]?.session } }

    func tell(_ event: FollowerEvent) {
        for observer in state.withLock({ $0.observers }) { observer(event) }
    }
}

/// The state of a followed service at one moment.
public struct ServiceSnapshot: Sendable {
    /// Where it is.
    public let place: ServicePlace
    /// The state of the connection.
    public let state: FollowedState
    /// The device, once there was a connection. ``ElementalDevice/value(of:)`` returns its newest values.
    public let device: ElementalDevice?
    /// The followed elements of the service; `nil` before they are known.
    public let catalogue: ElementCatalogue?
}
