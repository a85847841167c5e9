internal import Elemental
internal import ElementalFollowing
import Support

/// What services do between two ticks of the board, put in from any thread: events in order, and of each element the
/// newest value, so that it takes no more room however fast values come.
final class Inbox: Sendable {
    /// The values of a service that wait for the tick.
    struct Arrivals {
        private var lanes = Lanes(interval: .zero, keeping: .newest)
        /// The elements whose newest value a page has set, and of which the service has said nothing yet.
        private var own: Set<Int8> = []

        /// Adds a value, which is the element's newest.
        mutating func add(_ value: ElementValue, of element: ElementDefinition, isOwn: Bool) {
            _ = lanes.add(value, of: element)
            if isOwn { own.insert(element.id) } else if !own.isEmpty { own.remove(element.id) }
        }

        /// What a page has set is not the element's value.
        mutating func removeOwn(_ element: ElementDefinition) {
            if own.remove(element.id) != nil { lanes.drop(element) }
        }

        /// The values in the order in which their elements came, each with whether a page has set it.
        func forEach(_ body: (ElementDefinition, ElementValue, _ isOwn: Bool) -> Void) {
            var lanes = lanes
            let now = Lanes.Instant.now
            while case .send(let element, let value) = lanes.next(at: now) {
                body(element, value, own.contains(element.id))
            }
        }
    }

    /// What has come since the last time.
    struct Batch {
        var events: [FollowerEvent] = []
        /// Of each element the newest refusal: a service may send any number of them.
        var refusals: [ServiceKey: [Int8: ValueRefusal]] = [:]
        var values: [ServiceKey: Arrivals] = [:]

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
    func put(_ event: FollowerEvent) {
        change { batch in
            switch event {
            case .value(let key, let element, let value):
                batch.values[key, default: Arrivals()].add(value, of: element, isOwn: false)
                return
            case .roundTrip: return
            case .refusal(let key, let element, let refusal):
                batch.refusals[key, default: [:]][element.id] = refusal
                // What the service has refused is not the element's value.
                batch.values[key]?.removeOwn(element)
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
            batch.values[key, default: Arrivals()].add(value, of: element, isOwn: true)
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
