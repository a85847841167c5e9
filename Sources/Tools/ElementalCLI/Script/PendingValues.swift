import Elemental
import Support

/// The values that clients have set and no command has taken yet, one for each element. They outlive the commands,
/// which are restarted when their file is read again.
final class PendingValues: Sendable {
    struct Offer: Sendable {
        let value: ElementValue
        fileprivate let outcome = Outcome<ValueRefusal?>()

        /// Accepts the value, which becomes the element's value.
        func accept() { outcome.resolve(nil) }

        /// Refuses the value. The element keeps its previous value, and the client receives the reason.
        func refuse(_ reason: String) { outcome.resolve(ValueRefusal(reason)) }
    }

    private struct State {
        var offers: [Int8: Offer] = [:]
        var isOver = false
    }

    private let state = Locked(State())
    private let latches: [Int8: Latch]

    /// Handles the values that the clients of a service set. A value becomes the element's value once a command has
    /// accepted it, or at once if no command takes values.
    init(of service: ElementalService, as script: ElementScript) {
        let taking = script.entries.filter(\.takesValues)
        let ids = Set(taking.map(\.spec.definition.id))
        latches = Dictionary(uniqueKeysWithValues: ids.map { ($0, Latch()) })
        // The service keeps the handlers for its whole lifetime.
        for entry in taking {
            let takesBytes = entry.commands.contains { $0.purpose == .write }
            let element = entry.spec.definition
            service.relay(element) { [self] value, _ in
                if let refusal = await decide(value, element, takesBytes: takesBytes) { throw refusal }
                return value
            }
        }
        service.onAnyValue { [weak service] element, value, _ in
            guard !ids.contains(element.id), element.access.contains(.read) else { return }
            // The value has passed the checks that the service makes when it sends.
            _ = try? service?.send(value, to: element)
        }
    }

    private func decide(_ value: ElementValue, _ element: ElementDefinition, takesBytes: Bool) async -> ValueRefusal? {
        if !takesBytes || element.type != .data, element.text(of: value).utf8.contains(where: { $0.endsLine }) {
            return ValueRefusal("its command takes one line, and this text has several")
        }
        let offer = Offer(value: value)
        let isOver = state.withLock { state in
            if !state.isOver { state.offers[element.id] = offer }
            return state.isOver
        }
        if isOver { return ValueRefusal("the service is stopping") }
        latches[element.id]?.open()
        return await offer.outcome.value() ?? nil
    }

    /// Puts back a value that a command has not finished. The service offers one at a time.
    func putBack(_ offer: Offer, of element: ElementDefinition) {
        state.withLock { state in
            if state.isOver { offer.refuse("the service is stopping") } else { state.offers[element.id] = offer }
        }
        latches[element.id]?.open()
    }

    /// Waits for the next value of an element; `nil` if the task was cancelled.
    func next(of element: ElementDefinition) async -> Offer? {
        while let latch = latches[element.id], await latch.wait(), !Task.isCancelled {
            latch.close()
            if let offer = state.withLock({ $0.offers.removeValue(forKey: element.id) }) { return offer }
        }
        return nil
    }

    /// Refuses the remaining values, because no command runs any more.
    func finish() {
        let offers = state.withLock { state in
            state.isOver = true
            return state.offers
        }
        for offer in offers.values { offer.refuse("the service is stopping") }
    }
}

extension UInt8 {
    /// Whether programs treat it as the end of a line or a text.
    fileprivate var endsLine: Bool { self == 0x0A || self == 0x0D || self == 0 }
}
