import TestSupport
import Zeroconf

@testable import Elemental

/// What the simulated Zeroconf daemon reports of the service: late, and nothing while the daemon is down.
final class SimulatedListing {
    private final class Watch {
        let handler: (ElementalBrowser.Event) -> Void
        /// The port last reported to it; `nil` while the service counts as gone.
        var port: Int?
        /// What is still to be reported to it, in order.
        var pending: [Int?]

        init(port: Int?, _ handler: @escaping (ElementalBrowser.Event) -> Void) {
            pending = [port]
            self.handler = handler
        }
    }

    private struct WeakWatch { weak var watch: Watch? }

    /// Where the service is listed, even while a killed service is not running; `nil` after a goodbye.
    var port: Int? {
        didSet { for watch in watches.compactMap(\.watch) { watch.pending.append(port) } }
    }
    /// Whether the daemon is running. After a restart it reports the current state, not the changes in between.
    var isDaemonThere = true {
        didSet { for watch in watches.compactMap(\.watch) { watch.pending = [port] } }
    }
    private var watches: [WeakWatch] = []
    /// A separate generator: a notified handler may connect to the service immediately, which draws from the world's.
    private var random: SeededGenerator

    init(port: Int, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        self.port = port
    }

    func watch(_ handler: @escaping (ElementalBrowser.Event) -> Void) -> AnyObject {
        let watch = Watch(port: port, handler)
        watches.removeAll { $0.watch == nil }
        watches.append(WeakWatch(watch: watch))
        return watch
    }

    func step() {
        guard isDaemonThere else { return }
        for watch in watches.compactMap(\.watch) where !watch.pending.isEmpty && random.once(in: 5) {
            let (before, port) = (watch.port, watch.pending.removeFirst())
            guard port != before else { continue }
            watch.port = port
            guard let port else {
                watch.handler(.gone(service: World.service, name: World.name))
                continue
            }
            let service = Self.service(at: port)
            watch.handler(before == nil ? .found(service) : .updated(service))
        }
    }

    static func service(at port: Int, saysHello: Bool = true) -> DiscoveredService {
        guard let type = try? ServiceType.tcp(World.service),
            let address = NetworkAddress(bytes: [192, 0, 2, 1], interfaceIndex: 0)
        else { fatalError("the simulated service cannot be listed") }
        return DiscoveredService(
            ResolvedService(
                instance: ServiceInstance(name: World.name, type: type), host: "host.local.", port: port,
                txt: saysHello ? [ServiceTXT.version: "1"] : [:], addresses: [address]))
    }
}
