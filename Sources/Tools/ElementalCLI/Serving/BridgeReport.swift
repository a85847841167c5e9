import Elemental
import ElementalFollowing
import Support

/// Reports the outcome of values on a bridge, and the services that let it set nothing.
struct BridgeReport: Sendable {
    /// An element and the direction in which its values are dropped. Reported once, because a flood would fill the screen.
    private struct Dropping: Hashable {
        let key: ServiceKey
        let id: Int8
        let isForService: Bool
    }

    /// The maximum number of elements and of services that are remembered: names come from the network.
    private static let maximumCount = 10_000

    let console: Console
    let prints: Bool
    let setsElements: Bool
    private let told = Locked((droppings: Set<Dropping>(), services: Set<ServiceKey>()))

    /// Reports the outcome of a value. Does not wait.
    func note(_ value: BridgedValue) {
        switch value.outcome {
        case .passed: if !prints { return }
        case .notPassed: break
        case .dropped:
            let dropping = Dropping(key: value.key, id: value.element.id, isForService: value.isForService)
            guard
                told.withLock({ $0.droppings.count < Self.maximumCount && $0.droppings.insert(dropping).inserted })
            else { return }
        }
        console.offer(BridgedValueEvent(value: value))
    }

    /// From now on, reports each service once that does not let the bridge set elements although it should, with advice.
    func follow(_ followed: FollowedServices) {
        guard setsElements else { return }
        followed.follower.onEvent { event in
            guard case .state(let key, .connected(let device, let catalogue)) = event,
                !catalogue.contains(where: { $0.access.contains(.write) }),
                let place = followed.follower.place(of: key)
            else { return }
            let advice = PairingAdvice(place: place, access: followed.access).adviceToControl(device)
            guard !advice.isEmpty,
                told.withLock({ $0.services.count < Self.maximumCount && $0.services.insert(key).inserted })
            else { return }
            console.offer(.nothingSet(key, "does not let this bridge set anything\(advice)"))
        }
    }
}

struct BridgedValueEvent: ConsoleEvent {
    let value: BridgedValue

    var isResult: Bool { if case .passed = value.outcome { true } else { false } }

    var lines: [String] { ["\(value.key): \(sentence)"] }

    private var sentence: String {
        let (element, peer) = (value.element, "the \(value.peer)")
        return switch (value.outcome, value.isForService) {
        case (.passed(let value), false): "\(element.line(value))  to \(peer)"
        case (.passed(let value), true): "\(element.line(value))  from \(peer)"
        case (.notPassed(let error), false): "'\(element.name)' does not reach \(peer): \(error)"
        case (.notPassed(let error), true): "'\(element.name)' was not set: \(error)"
        case (.dropped, false):
            "values of '\(element.name)' arrive faster than \(peer) accepts them, and some are dropped"
        case (.dropped, true):
            "values for '\(element.name)' arrive faster than the service accepts them, and some are dropped"
        }
    }

    var json: JSONText {
        let place: JSONText.Members =
            JSONText.members(value.key) + [("element", .string(value.element.name))]
            + (value.address.map { [("address", .string($0))] } ?? [])
            + [("direction", .string(value.isForService ? "toDevice" : value.peer.direction))]
        return switch value.outcome {
        case .passed(let value): .event("passed", place + [("value", value.json)])
        case .notPassed(let error): .event("notPassed", place + JSONText.members(error))
        case .dropped: .event("dropped", place)
        }
    }
}

extension BridgedValue.Peer {
    fileprivate var direction: String {
        switch self {
        case .broker: "toBroker"
        case .hub: "toHub"
        case .surfaces: "toSurfaces"
        }
    }
}

extension ConsoleEvent where Self == Notice {
    static func nothingSet(_ key: ServiceKey, _ message: String) -> Notice {
        Notice("nothingSet", JSONText.members(key) + [("message", .string(message))], "\(key) \(message)")
    }
}
