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
/// ``onEvent(_:room:)`` reports everything at once, on the devices' event loops. ``values(_:interval:maximumByteCount:)`` gives
/// the values to a task at its own pace. ``set(_:of:at:timeout:)`` sends a value and says what became of it.
///
/// Services are hostile until they have proved otherwise: ``FollowerOptions`` bounds their number, each value and the
/// memory of all values. A follower asks for the role `observe` unless the options say otherwise, pairs only when
/// ``pair(_:code:as:role:)`` is called, and accepts no service under a paired one's name with another key.
public final class Follower: Sendable {
    typealias Observer = @Sendable (FollowerEvent) -> Void
    typealias Room = @Sendable () async -> Void

    struct Entry {
        /// The subjects that list it, by their numbers.
        var subjects: Set<Int> = []
        var place: ServicePlace
        /// Where it may be if it is not there.
        var others: [ServicePlace] = []
        /// `nil` if there are too many.
        var session: FollowedService?
        /// Its newest state that was reported; `nil` if there are too many services.
        var state: FollowedState?
    }

    struct State {
        var entries: [ServiceKey: Entry] = [:]
        var observers: [Observer] = []
        /// Each waits until an observer has room for a further value of a history.
        var rooms: [Room] = []
        /// Takes the services that begin to be followed; `nil` before ``Follower/run()`` and after it.
        var starts: AsyncStream<FollowedService>.Continuation?
        var hasRun = false
        var count = 0
        /// How many were said to be too many.
        var excess = 0
        var endings: [@Sendable () -> Void] = []
    }

    /// How many services that are too many are remembered, to take the place of one that goes.
    static let mostWaiting = 4096

    /// The options.
    public let options: FollowerOptions
    let subjects: [ServiceSubject]
    /// The services' names and addresses that are followed, as people write them; empty for all services.
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
    /// key come in order and one at a time; those of different keys may come at the same time, unless there is one event
    /// loop in ``FollowerOptions/connect``. Call it before ``run()``.
    ///
    /// - Parameter room: awaited after each value of a history, before the next one is asked for: an observer that is slow
    ///   makes the service wait. It returns at the latest when the task is cancelled.
    public func onEvent(
        _ observer: @escaping @Sendable (FollowerEvent) -> Void, room: (@Sendable () async -> Void)? = nil
    ) {
        state.withLock { state in
            state.observers.append(observer)
            if let room { state.rooms.append(room) }
        }
    }

    /// Calls `observer` on that event loop, at once if the event comes there.
    package func onEvent(on loop: any EventLoop, _ observer: @escaping @Sendable (FollowerEvent) -> Void) {
        onEvent { event in
            if loop.inEventLoop { observer(event) } else { loop.execute { observer(event) } }
        }
    }

    /// Follows the services until the task is cancelled; then closes all connections. Call it once.
    ///
    /// - Throws: ``ElementalError`` with the code `invalidValue` for a service's name that is not valid, `invalidState` for
    ///   a second call.
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
        guard isFirst else { throw ElementalError(.invalidState, "a follower runs once: create another one") }
        // Taken before anything is tried: who is trusted from then on may be what an attempt was refused for.
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

    /// The services that are followed, as they are now.
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

    /// The device of a service that is connected, or was and is being connected to again.
    public func device(of key: ServiceKey) -> ElementalDevice? { session(of: key)?.device }

    /// Where a service is.
    public func place(of key: ServiceKey) -> ServicePlace? { session(of: key)?.place }

    /// Pairs with a service, with the identity in the options, and connects to it again with the role that it grants.
    ///
    /// - Parameters:
    ///   - code: what the service shows: six digits, or a long secret.
    ///   - name: under which the service lists this client; `nil` for the usual one.
    ///   - role: what this client wants to do.
    /// - Throws: ``ElementalError`` as `pair` of a service does, and with the code `serviceNotFound` for a service that is
    ///   not followed.
    @discardableResult
    public func pair(
        _ key: ServiceKey, code: String, as name: String? = nil, role: Role = .control
    ) async throws(ElementalError) -> TrustedService {
        guard let session = session(of: key) else {
            throw ElementalError(.serviceNotFound, "'\(key)' is no longer there")
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
        ElementalError(.wrongCode, "that is not what the service shows: a code has six digits")
    }

    private func session(of key: ServiceKey) -> FollowedService? { state.withLock { $0.entries[key]?.session } }

    func tell(_ event: FollowerEvent) {
        for observer in state.withLock({ $0.observers }) { observer(event) }
    }
}

/// A service that is followed, at one moment.
public struct ServiceSnapshot: Sendable {
    /// Where it is.
    public let place: ServicePlace
    /// The state of the connection.
    public let state: FollowedState
    /// The device, once there was a connection: its newest values are those of ``ElementalDevice/value(of:)``.
    public let device: ElementalDevice?
    /// The service's elements that are followed; `nil` before they are known.
    public let catalogue: ElementCatalogue?
}
