import Elemental
import ElementalFollowing
import SignalRBridge
import Support

/// Reports what a bridge to a hub does.
final class HubReport: Sendable {
    /// An element and the direction in which its values are dropped: reported once, since a flood would fill the screen.
    private struct Dropping: Hashable {
        let key: ServiceKey
        let id: Int8
        let direction: BridgeEvent.Direction
    }

    /// No more elements and services are remembered: names come from the network.
    private static let maximumCount = 10_000

    private let console: Console
    private let url: String
    private let options: BridgeOptions
    private let prints: Bool
    private let nothingSet: NothingSetReport
    private let dropped = Locked<Set<Dropping>>([])

    init(_ console: Console, url: String, _ options: BridgeOptions, prints: Bool) {
        self.console = console
        self.url = url
        self.options = options
        self.prints = prints
        nothingSet = NothingSetReport(console)
    }

    /// Notes what happens to the services. It does not wait.
    func note(_ event: FollowerEvent, _ followed: FollowedServices) {
        if options.setsElements { nothingSet.note(event, followed) }
    }

    /// Notes what happens on the bridge. It does not wait.
    func note(_ event: SignalRBridge.Event) {
        switch event.change {
        case .began(let bridge): offer(BridgingEvent(bridge, url: url, controls: options.setsElements), event.key)
        case .notBridged(let error): console.offer(SessionStateEvent(event.key, refused: error.message))
        case .hubOpened(let transport): offer(HubConnectionEvent(url: url, change: .opened(transport)), event.key)
        case .bridge(let change):
            switch change {
            case .toHub, .toDevice: if !prints { return }
            case .dropped(let element, let direction):
                let dropping = Dropping(key: event.key, id: element.id, direction: direction)
                let isNews = dropped.withLock { $0.count < Self.maximumCount && $0.insert(dropping).inserted }
                if !isNews { return }
            case .failed, .hubAway, .hubReturned: break
            }
            offer(BridgeReport(event: change, url: url), event.key)
        }
    }

    private func offer(_ event: some ConsoleEvent, _ key: ServiceKey) { console.offer(OfService(key, event)) }
}
