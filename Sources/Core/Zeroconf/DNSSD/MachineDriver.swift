import Dispatch
import Logging
import Support

/// Runs a ``ServiceMachine``: inputs one at a time on its own queue, actions in the order the machine gave them.
///
/// References hold the driver weakly, so that a driver without owners is released and closes them all. A consumer's
/// stream holds it strongly: the driver works as long as a consumer listens.
final class MachineDriver<Machine: ServiceMachine>: Sendable {
    private struct State {
        var machine: Machine
        var references: [ReferenceID: ServiceReference] = [:]
        /// The running timers; the expiry of a cancelled one is ignored.
        var timers: Set<TimerID> = []
        var consumers: [Int: AsyncStream<Machine.Event>.Continuation] = [:]
        var lastConsumer = 0
        /// The consumers whose streams end when the machine has been surveyed.
        var surveys: Set<Int> = []
        var closing = 0
        var isStopped = false
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    /// The maximum number of events in one consumer's stream. A stream whose consumer falls further behind is finished:
    /// otherwise it would take unbounded memory, or miss events silently.
    private static var bufferedEvents: Int { 4096 }

    private let queue: DispatchQueue
    private let state: Locked<State>
    private let logger: Logger
    private let runsOnDemand: Bool

    /// - Parameter runsOnDemand: whether to start with each consumer and stop with the last.
    init(_ machine: Machine, label: String, logger: Logger?, runsOnDemand: Bool) {
        queue = DispatchQueue(label: label)
        state = Locked(State(machine: machine))
        self.logger = (logger ?? .silent).printable
        self.runsOnDemand = runsOnDemand
    }

    deinit {
        state.withLock { state in
            for reference in state.references.values {
                reference.close {}
            }
        }
    }

    func send(_ input: MachineInput) {
        queue.async { self.process(input) }
    }

    private func handleNow(_ input: MachineInput) {
        queue.sync { process(input) }
    }

    /// A separate stream for each caller, beginning with the current state.
    ///
    /// - Parameter isSurvey: whether it ends when the machine has been surveyed.
    func subscribe(isSurvey: Bool = false) -> AsyncStream<Machine.Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Machine.Event.self, bufferingPolicy: .bufferingOldest(Self.bufferedEvents))
        let id = state.withLock { state in
            state.lastConsumer += 1
            if isSurvey { state.surveys.insert(state.lastConsumer) }
            return state.lastConsumer
        }
        // Set before the stream can end: a handler that is set afterwards never runs.
        continuation.onTermination = { _ in
            self.queue.async { self.removeConsumer(id) }
        }
        queue.async { self.add(continuation, id) }
        return stream
    }

    /// Ends everything permanently, without waiting.
    func end() {
        queue.async { self.endOnQueue() }
    }

    /// Ends everything permanently and returns once the library has released every reference.
    func stop() async {
        await withCheckedContinuation { waiter in
            queue.async {
                self.endOnQueue()
                let isIdle = self.state.withLock { state in
                    if state.closing > 0 {
                        state.stopWaiters.append(waiter)
                    }
                    return state.closing == 0
                }
                if isIdle {
                    waiter.resume()
                }
            }
        }
    }

    private func endOnQueue() {
        process(.stop)
        let consumers = state.withLock { state in
            state.isStopped = true
            defer { state.consumers = [:] }
            return Array(state.consumers.values)
        }
        for consumer in consumers {
            consumer.finish()
        }
    }

    private func add(_ continuation: AsyncStream<Machine.Event>.Continuation, _ id: Int) {
        let replay: [Machine.Event]? = state.withLock { state in
            guard !state.isStopped else { return nil }
            state.consumers[id] = continuation
            return state.machine.replay()
        }
        guard let replay else { return continuation.finish() }
        for event in replay {
            continuation.yield(event)
        }
        if runsOnDemand {
            process(.start)
        }
        if state.withLock({ $0.surveys.contains(id) }) {
            process(.survey)
        }
    }

    private func endSurveys() {
        let surveys = state.withLock { state in
            state.surveys.isEmpty || !state.machine.isSurveyed ? [] : state.surveys.compactMap { state.consumers[$0] }
        }
        // Each is removed when its stream has ended.
        for survey in surveys {
            survey.finish()
        }
    }

    private func removeConsumer(_ id: Int) {
        let wasLast = state.withLock { state in
            state.surveys.remove(id)
            return state.consumers.removeValue(forKey: id) != nil && state.consumers.isEmpty
        }
        if wasLast && runsOnDemand {
            process(.stop)
        }
    }

    private func process(_ input: MachineInput) {
        let actions = state.withLock { state -> [MachineAction<Machine.Event>] in
            if case .timer(let id) = input, state.timers.remove(id) == nil {
                return []
            }
            return state.isStopped ? [] : state.machine.handle(input)
        }
        for action in actions {
            perform(action)
        }
        endSurveys()
    }

    private func perform(_ action: MachineAction<Machine.Event>) {
        switch action {
        case .open(let id, let request):
            let reference = ServiceReference(request) { [weak self] event in
                // Synchronous, so that events that arrive faster than they are handled stay in the daemon's socket.
                self?.handleNow(.reference(id, event))
            }
            state.withLock { $0.references[id] = reference }
            reference.open()
        case .close(let id):
            close(id)
        case .updateTXT(let id, let bytes):
            state.withLock { $0.references[id] }?.updateTXT(bytes)
        case .startTimer(let id, let delay):
            state.withLock { _ = $0.timers.insert(id) }
            // Longer delays overflow in nanoseconds.
            let delay = min(delay, .seconds(1_000_000_000)).nanoseconds
            queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay))) { [weak self] in
                self?.process(.timer(id))
            }
        case .cancelTimer(let id):
            state.withLock { _ = $0.timers.remove(id) }
        case .emit(let event):
            emit(event)
        case .log(let entry):
            logger.log(level: entry.isWarning ? .warning : .debug, "\(entry.message)")
        }
    }

    private func close(_ id: ReferenceID) {
        let reference = state.withLock { state in
            let reference = state.references.removeValue(forKey: id)
            state.closing += reference == nil ? 0 : 1
            return reference
        }
        reference?.close {
            self.queue.async {
                let waiters = self.state.withLock { state in
                    state.closing -= 1
                    guard state.closing == 0 else { return [CheckedContinuation<Void, Never>]() }
                    defer { state.stopWaiters = [] }
                    return state.stopWaiters
                }
                for waiter in waiters {
                    waiter.resume()
                }
            }
        }
    }

    private func emit(_ event: Machine.Event) {
        let consumers = state.withLock { $0.consumers }
        for (id, consumer) in consumers {
            guard case .dropped = consumer.yield(event) else { continue }
            logger.warning("a consumer fell \(Self.bufferedEvents) events behind, so its stream ends; read it faster")
            consumer.finish()
            removeConsumer(id)
        }
    }
}
