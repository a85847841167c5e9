internal import DequeModule
package import Elemental
package import NIOCore
internal import Support

/// The values for a service: those that wait until the device has room, and those that were sent but not confirmed yet.
/// It belongs to one event loop.
///
/// A service need not echo a value that it accepts. Therefore a bridge finds out with a ping whether the service has
/// handled the values, and then shows them. For a service that does echo, as ``ElementalService/relay(_:deciding:)``
/// does, it first waits ``patience``.
package final class SentValues {
    private struct Lane {
        let element: ElementDefinition
        /// Values that no ping has followed yet, in their order; of an element marked latest only the newest.
        var unasked: Deque<ElementValue> = []
        var asked: Deque<ElementValue> = []
        /// Whether the service answered the last values before the ping.
        var tells = false

        var byteCount = 0

        var isEmpty: Bool { unasked.isEmpty && asked.isEmpty }

        /// - Parameter room: the bytes that the other lanes leave.
        mutating func add(_ value: ElementValue, room: Int) {
            let size = value.wireByteCount
            if element.latest { while !unasked.isEmpty { removeFirst() } }
            while !unasked.isEmpty, unasked.count >= SentValues.maximumValueCount || byteCount + size > room {
                removeFirst()
            }
            // The outcome of a dropped value is known only if the service answers it.
            guard byteCount + size <= room else { return }
            unasked.append(value)
            byteCount += size
        }

        private mutating func removeFirst() {
            byteCount -= unasked.popFirst()?.wireByteCount ?? 0
        }

        mutating func removeAsked() {
            byteCount -= asked.reduce(0) { $0 + $1.wireByteCount }
            asked.removeAll(keepingCapacity: true)
        }

        mutating func removeAll() {
            unasked.removeAll(keepingCapacity: true)
            asked.removeAll(keepingCapacity: true)
            byteCount = 0
        }
    }

    package enum Outcome {
        case sent(ElementValue)
        /// The service has handled it and sent no answer.
        case handled(ElementValue)
        /// A value could not be sent, or it is unknown whether the element's values were handled; the latter is
        /// reported once for all of them.
        case failed(ElementalError)
    }

    /// Called with the outcome of each value, in their order.
    package var onOutcome: (ElementDefinition, Outcome) -> Void = { _, _ in }

    private static let retryTime = TimeAmount.milliseconds(2)
    /// How long to wait for the echo of a service that echoes, before the ping.
    package static let patience = TimeAmount.milliseconds(100)
    /// The maximum number of values kept per element; the oldest are dropped.
    package static let maximumValueCount = 1024
    /// The maximum bytes of all kept values.
    package static let maximumByteCount = 4 << 20

    private let loop: any EventLoop
    private var waiting = Lanes(interval: .zero, keeping: .bridged)
    private var isRetrying = false
    private var lanes: [Int8: Lane] = [:]
    private var isAsking = false
    private var later: Scheduled<Void>?
    /// The connection over which the values were sent.
    private var device: ElementalDevice?
    private let ask: Ask

    /// Waits until the service has handled the values. Throws if that remains unknown.
    typealias Ask =
        @Sendable ([(element: ElementDefinition, value: ElementValue)], ElementalDevice) async throws(ElementalError)
        -> Void

    /// How long a service may take for that.
    private static let answerTime = Duration.seconds(10)

    package convenience init(on loop: any EventLoop) {
        self.init(on: loop) { (values, device) async throws(ElementalError) in
            try await device.waitUntilSent()
            try await device.waitUntilHandled(values, timeout: Self.answerTime)
        }
    }

    init(on loop: any EventLoop, asking ask: @escaping Ask) {
        self.loop = loop
        self.ask = ask
    }

    var byteCount: Int { lanes.values.reduce(0) { $0 + $1.byteCount } }

    /// Returns the newest value of the element that was sent and not confirmed.
    package subscript(_ element: ElementDefinition) -> ElementValue? {
        lanes[element.id].flatMap { $0.unasked.last ?? $0.asked.last }
    }

    /// Returns whether the outcome of one of the element's values is open.
    package func isUnderWay(_ element: ElementDefinition) -> Bool { isRetrying || self[element] != nil }

    /// Sends a value to the service as soon as the device has room for it.
    ///
    /// - Returns: `false` if too many values are waiting and it was not accepted.
    package func send(_ value: ElementValue, of element: ElementDefinition, by device: ElementalDevice) -> Bool {
        guard waiting.add(value, of: element) else { return false }
        self.device = device
        sendWaiting()
        return true
    }

    private func sendWaiting() {
        guard !isRetrying, let device else { return }
        while case .send(let element, let value) = waiting.next(at: .now) {
            do throws(ElementalError) {
                try device.send(value, to: element)
            } catch {
                guard error.code == .queueFull else {
                    onOutcome(element, .failed(error))
                    continue
                }
                waiting.putBack(value, of: element)
                isRetrying = true
                loop.assumeIsolated().scheduleTask(in: Self.retryTime) { [weak self] in
                    self?.isRetrying = false
                    self?.sendWaiting()
                }
                return
            }
            add(value, of: element)
            onOutcome(element, .sent(value))
        }
        confirm(by: device)
    }

    /// Records a value that was sent to the service. ``confirm(by:)`` follows.
    func add(_ value: ElementValue, of element: ElementDefinition) {
        if lanes[element.id]?.element !== element { lanes[element.id] = Lane(element: element) }
        let others = byteCount - (lanes[element.id]?.byteCount ?? 0)
        lanes[element.id]?.add(value, room: Self.maximumByteCount - others)
    }

    /// Settles the element's values, because the service has sent a value or a refusal of the element.
    package func answered(_ element: ElementDefinition) {
        guard let lane = lanes[element.id], !lane.isEmpty else { return }
        lanes[element.id]?.removeAll()
        lanes[element.id]?.tells = true
    }

    /// Forgets all values, because the connection has ended or the catalogue has changed.
    package func removeAll() {
        lanes = [:]
        waiting = Lanes(interval: .zero, keeping: .bridged)
        device = nil
        later?.cancel()
        later = nil
    }

    /// Waits until the service has answered or handled what it was sent over this connection.
    func confirm(by device: ElementalDevice) {
        self.device = device
        guard !isAsking else { return }
        let waiting = lanes.values.lazy.filter { !$0.unasked.isEmpty }
        if waiting.contains(where: { !$0.tells }) {
            askNow(device)
        } else if later == nil, !waiting.isEmpty {
            later = loop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
                guard let self else { return }
                later = nil
                if !isAsking, let device = self.device { askNow(device) }
            }
        }
    }

    private func askNow(_ device: ElementalDevice) {
        var values: [(element: ElementDefinition, value: ElementValue)] = []
        for id in lanes.keys {
            guard var lane = lanes[id], !lane.unasked.isEmpty else { continue }
            values += lane.unasked.map { (lane.element, $0) }
            swap(&lane.asked, &lane.unasked)
            lanes[id] = lane
        }
        guard !values.isEmpty else { return }
        isAsking = true
        let (loop, ask, bound, asked) = (loop, ask, NIOLoopBound(self, eventLoop: loop), values)
        Task {
            let failure: ElementalError?
            do throws(ElementalError) {
                try await ask(asked, device)
                failure = nil
            } catch {
                failure = error
            }
            await loop.run { bound.value.handled(failure) }
        }
    }

    private func handled(_ failure: ElementalError?) {
        isAsking = false
        // Values that were answered in the meantime, or sent over a connection that has ended, are no longer among
        // them.
        for id in Array(lanes.keys) {
            guard let lane = lanes[id], !lane.asked.isEmpty else { continue }
            lanes[id]?.removeAsked()
            lanes[id]?.tells = false
            if let failure {
                let message = "the service did not confirm it: \(failure.message)"
                onOutcome(lane.element, .failed(ElementalError(failure.code, message)))
            } else {
                for value in lane.asked { onOutcome(lane.element, .handled(value)) }
            }
        }
        if let device { confirm(by: device) }
    }
}
