import Elemental
import ElementalFollowing
import SignalRBridge
import Support

/// Reports what a bridge to a hub does.
final class HubReport: Sendable {
    private let console: Console
    private let url: String
    private let options: BridgeOptions
    private let values: BridgeReport

    init(_ console: Console, url: String, _ options: BridgeOptions, prints: Bool) {
        self.console = console
        self.url = url
        self.options = options
        values = BridgeReport(console, .hub, prints: prints, setsElements: options.setsElements)
    }

    /// Notes what happens to the services. It does not wait.
    func note(_ event: FollowerEvent, _ followed: FollowedServices) {
        values.note(event, followed.access) { followed.sessions.place(of: $0) }
    }

    /// Notes what happens on the bridge. It does not wait.
    func note(_ event: SignalRBridge.Event) {
        let key = event.key
        switch event.change {
        case .began(let bridge):
            console.offer(
                HubBridgingEvent(
                    key: key, url: url, controls: options.setsElements, role: bridge.device.grantedRole))
        case .notBridged(let error):
            console.offer(SessionStateEvent(key, refused: "invalidOptions", error.message))
        case .hubOpened(let transport): offer(.opened(transport), key)
        case .bridge(.toHub(let element, let value)): values.note(.passed(value), element, isInbound: false, of: key)
        case .bridge(.toDevice(let element, let value)): values.note(.passed(value), element, isInbound: true, of: key)
        case .bridge(.failed(let element, let direction, let error)):
            values.note(.notPassed(error), element, isInbound: direction == .toDevice, of: key)
        case .bridge(.dropped(let element, let direction)):
            values.note(.dropped, element, isInbound: direction == .toDevice, of: key)
        case .bridge(.hubAway(let error)): offer(.willReconnect(error), key)
        case .bridge(.hubReturned): offer(.didReconnect, key)
        }
    }

    private func offer(_ change: HubConnectionEvent.Change, _ key: ServiceKey) {
        console.offer(HubConnectionEvent(url: url, change: change, key: key))
    }
}
