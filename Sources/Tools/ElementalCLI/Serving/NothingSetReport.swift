import Elemental
import ElementalFollowing
import Support

/// Says once of each service that lets a bridge set nothing, though it should, what to do.
final class NothingSetReport: Sendable {
    /// No more services are remembered: names come from the network.
    private static let most = 10_000

    private let console: Console
    private let told = Locked(Set<ServiceKey>())

    init(_ console: Console) { self.console = console }

    func note(_ event: FollowerEvent, _ followed: FollowedServices) {
        guard case .state(let key, .connected(let device, let catalogue)) = event,
            !catalogue.contains(where: { $0.access.contains(.write) }), let place = followed.sessions.place(of: key)
        else { return }
        let isNews = told.withLock { $0.count < Self.most && $0.insert(key).inserted }
        let advice = PairingAdvice(place: place, access: followed.access).toControl(device)
        if isNews, !advice.isEmpty { console.offer(NothingSetEvent(key: key, advice: advice)) }
    }
}

/// A service lets the bridge set nothing.
struct NothingSetEvent: ConsoleEvent {
    let key: ServiceKey
    let advice: String

    var isResult: Bool { false }
    var lines: [String] { ["\(key) does not let this bridge set anything\(advice)"] }
    var json: JSONText {
        .event(
            "nothingSet",
            [("service", .optional(key.service)), ("device", .string(key.name)), ("advice", .string(advice))])
    }
}
