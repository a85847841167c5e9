internal import Bridging
import Elemental
import Support

/// What services do between two ticks of the board, put in from any thread: events in order, and of each element the
/// newest value, so that it takes no more room however fast values come.
final class Inbox: Sendable {
    /// A value that waits for the tick.
    struct Arrival {
        var value: ElementValue
        /// Whether a page has set it, and the service has said nothing of it yet.
        var isOwn: Bool
    }

    /// What has come since the last time.
    struct Batch {
        var events: [SessionEvent] = []
        /// Of each element the newest refusal: a service may send any number of them.
        var refusals: [ServiceKey: [Int8: ValueRefusal]] = [:]
        var values: [ServiceKey: [Int8: Arrival]] = [:]

        var isEmpty: Bool { events.isEmpty && refusals.isEmpty && values.isEmpty }
    }

    private let batch = Locked(Batch())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: called when something comes into the empty inbox, under no lock.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Everything that has come, which is then no longer here.
    func take() -> Batch {
        batch.withLock { batch in
            defer { batch = Batch() }
            return batch
        }
    }

    /// Puts in what happened.
    func put(_ event: SessionEvent) {
        change { batch in
            switch event {
            case .value(let key, let element, let value):
                batch.values[key, default: [:]][element.id] = Arrival(value: value, isOwn: false)
                return
            case .roundTrip: return
            case .refusal(let key, let element, let refusal):
                batch.refusals[key, default: [:]][element.id] = refusal
                // What the service has refused is not the element's value.
                if batch.values[key]?[element.id]?.isOwn == true { batch.values[key]?[element.id] = nil }
                return
            case .state(let key, .connected):
                batch.values[key] = nil
                batch.refusals[key] = nil
            default: break
            }
            batch.events.append(event)
        }
    }

    /// Sends a value to a service and puts it in as the element's newest, before whatever the service answers.
    func put(
        _ value: ElementValue, of element: ElementDefinition, _ key: ServiceKey,
        sending: () throws(ElementalError) -> Void
    ) throws(ElementalError) {
        var problem: ElementalError?
        change { batch in
            do throws(ElementalError) {
                // Under the lock: the service's answer comes on another thread, which waits here.
                try sending()
            } catch {
                problem = error
                return
            }
            // What cannot be read is not shown.
            guard element.access.contains(.read) else { return }
            batch.values[key, default: [:]][element.id] = Arrival(value: value, isOwn: true)
        }
        if let problem { throw problem }
    }

    private func change(_ body: (inout Batch) -> Void) {
        let isFirst = batch.withLock { batch in
            let wasEmpty = batch.isEmpty
            body(&batch)
            return wasEmpty && !batch.isEmpty
        }
        if isFirst { wake() }
    }
}
