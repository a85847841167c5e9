import ClusterElements
public import Elemental
import Synchronization

/// The nodes of a cluster, found by Zeroconf and connected to all the time.
///
/// Who is there is a matter of connections: Zeroconf lists a machine that lost its power for two minutes more.
public final class Members: Sendable {
    private struct State {
        var listed: [String: DiscoveredService] = [:]
        var devices: [String: ElementalDevice] = [:]
        var followed: Set<String> = []
        var failure: String?
    }

    private let state = Mutex(State())
    private let ownName: String
    private let options: ConnectOptions

    /// - Parameter ownName: what the nodes know this program by.
    public init(as ownName: String, options: ConnectOptions) {
        var options = options
        options.limits = Self.limits
        options.reconnection = .forever()
        self.ownName = ownName
        self.options = options
    }

    /// A node that is silent for 2.25 s counts as gone: a ping each half second, and the patience of 4.5 of them.
    public static var limits: DeviceLimits {
        DeviceLimits(heartbeatInterval: .milliseconds(500))
    }

    /// The nodes that are connected, by name.
    public var present: [ElementalDevice] {
        state.withLock { $0.devices.values.filter(\.isConnected) }.sorted { $0.name < $1.name }
    }

    /// A node that is connected, by its name.
    public func device(named name: String) -> ElementalDevice? {
        state.withLock { $0.devices[name] }.flatMap { $0.isConnected ? $0 : nil }
    }

    /// Why the last node that could not be reached was not.
    public var failure: String? { state.withLock { $0.failure } }

    /// Follows the nodes until the task is cancelled.
    ///
    /// - Parameter configure: adds handlers to a node's device.
    public func run(configure: @escaping @Sendable (ElementalDevice) -> Void) async throws {
        let events = try ElementalBrowser(Cluster.service).events()
        await withDiscardingTaskGroup { group in
            for await event in events {
                switch event {
                case .found(let service), .updated(let service):
                    let isNew = state.withLock { state in
                        state.listed[service.name] = service
                        return state.followed.insert(service.name).inserted
                    }
                    if isNew { group.addTask { await self.follow(service.name, configure) } }
                case .gone(_, let name): state.withLock { $0.listed[name] = nil }
                case .unresolved, .failed: break
                }
            }
            group.cancelAll()
        }
    }

    /// Stays connected to a node as long as it is listed.
    private func follow(_ name: String, _ configure: @escaping @Sendable (ElementalDevice) -> Void) async {
        while !Task.isCancelled, let service = listed(name) {
            do {
                let device = try await service.connect(
                    as: ownName, elements: Cluster.all, options: options, configure: configure)
                state.withLock { $0.devices[name] = device }
                while !Task.isCancelled, device.disconnectReason == nil, device.isConnected || listed(name) != nil {
                    try? await Task.sleep(for: .milliseconds(250))
                }
                await device.close()
                state.withLock { $0.devices[name] = nil }
            } catch {
                state.withLock { $0.failure = String(describing: error) }
            }
            try? await Task.sleep(for: .seconds(1))
        }
        state.withLock { _ = $0.followed.remove(name) }
    }

    private func listed(_ name: String) -> DiscoveredService? { state.withLock { $0.listed[name] } }
}
