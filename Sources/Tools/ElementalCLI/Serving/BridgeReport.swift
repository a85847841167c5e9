import Elemental
import ElementalFollowing
import Support

/// What a bridge passes values to and takes them from.
enum BridgePeer: String, Sendable, Hashable {
    case broker = "Broker"
    case hub = "Hub"
    case surfaces = "Surfaces"

    var words: String { "the \(rawValue.lowercased())" }
}

/// Tells what becomes of values on a bridge, and which services let it set nothing.
final class BridgeReport: Sendable {
    /// An element and the direction in which its values are dropped: told once, since a flood would fill the screen.
    private struct Dropping: Hashable {
        let key: ServiceKey
        let id: Int8
        let isInbound: Bool
    }

    /// No more elements and services are remembered: names come from the network.
    private static let most = 10_000

    private let console: Console
    private let peer: BridgePeer
    private let prints: Bool
    private let setsElements: Bool
    private let told = Locked((droppings: Set<Dropping>(), services: Set<ServiceKey>()))

    /// - Parameters:
    ///   - prints: whether to tell each value that passes.
    ///   - setsElements: whether the bridge should set elements.
    init(_ console: Console, _ peer: BridgePeer, prints: Bool, setsElements: Bool) {
        self.console = console
        self.peer = peer
        self.prints = prints
        self.setsElements = setsElements
    }

    /// Notes what became of a value. It does not wait.
    ///
    /// - Parameters:
    ///   - isInbound: whether it is for the service.
    ///   - address: the element's, where it has one besides its name.
    func note(
        _ outcome: BridgedValueEvent.Outcome, _ element: ElementDefinition, isInbound: Bool, of key: ServiceKey,
        at address: String? = nil
    ) {
        switch outcome {
        case .passed: if !prints { return }
        case .notPassed: break
        case .dropped:
            let dropping = Dropping(key: key, id: element.id, isInbound: isInbound)
            let isNews = told.withLock { $0.droppings.count < Self.most && $0.droppings.insert(dropping).inserted }
            if !isNews { return }
        }
        console.offer(
            BridgedValueEvent(
                key: key, element: element, outcome: outcome, peer: peer, isInbound: isInbound, address: address))
    }

    /// Says once of a service that lets the bridge set nothing, though it should, what to do.
    ///
    /// - Parameter place: where the service is, once it is known.
    func note(_ event: FollowerEvent, _ access: ClientAccess, _ place: (ServiceKey) -> ServicePlace?) {
        guard setsElements, case .state(let key, .connected(let device, let catalogue)) = event,
            !catalogue.contains(where: { $0.access.contains(.write) }), let place = place(key)
        else { return }
        let advice = PairingAdvice(place: place, access: access).toControl(device)
        guard !advice.isEmpty,
            told.withLock({ $0.services.count < Self.most && $0.services.insert(key).inserted })
        else { return }
        console.offer(NothingSetEvent(key: key, message: "does not let this bridge set anything\(advice)"))
    }
}

/// What became of a value on a bridge.
struct BridgedValueEvent: ConsoleEvent {
    enum Outcome: Sendable {
        case passed(ElementValue)
        case notPassed(any Error)
        /// There was no room for it.
        case dropped
    }

    let key: ServiceKey
    let element: ElementDefinition
    let outcome: Outcome
    let peer: BridgePeer
    /// Whether it is for the service.
    let isInbound: Bool
    var address: String?

    var isResult: Bool { if case .passed = outcome { true } else { false } }

    var lines: [String] { ["\(key): \(sentence)"] }

    private var sentence: String {
        switch (outcome, isInbound) {
        case (.passed(let value), false): "\(element.line(value))  to \(peer.words)"
        case (.passed(let value), true): "\(element.line(value))  from \(peer.words)"
        case (.notPassed(let error), false): "'\(element.name)' does not reach \(peer.words): \(error)"
        case (.notPassed(let error), true): "'\(element.name)' was not set: \(error)"
        case (.dropped, false):
            "values of '\(element.name)' arrive faster than they can be passed to \(peer.words), and some are dropped"
        case (.dropped, true):
            "values for '\(element.name)' arrive faster than the service takes them, and some are dropped"
        }
    }

    var json: JSONText {
        let place: JSONText.Members =
            JSONText.members(key) + [("element", .string(element.name))]
            + (address.map { [("address", .string($0))] } ?? [])
            + [("direction", .string(isInbound ? "toDevice" : "to\(peer.rawValue)"))]
        return switch outcome {
        case .passed(let value): .event("passed", place + [("value", value.json)])
        case .notPassed(let error): .event("notPassed", place + JSONText.members(error))
        case .dropped: .event("dropped", place)
        }
    }
}

/// A service lets the bridge set nothing.
struct NothingSetEvent: ConsoleEvent {
    let key: ServiceKey
    let message: String

    var isResult: Bool { false }
    var lines: [String] { ["\(key) \(message)"] }
    var json: JSONText { .event("nothingSet", JSONText.members(key) + [("message", .string(message))]) }
}
