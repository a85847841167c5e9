import ClusterElements
import Elemental
import Synchronization

/// Runs each job at most once, a bounded number at a time.
final class Jobs: Sendable {
    private struct State {
        var known: [String: Report.State] = [:]
        /// Who gets the reports of the jobs that run.
        var clients: [String: ElementalDevice] = [:]
        /// The jobs in the order in which they came, to forget the oldest.
        var order: [String] = []
        var hasForgotten = false
    }

    /// How many jobs are remembered, and how long the name of one may be.
    private static let longestMemory = 10_000
    private static let longestName = 100

    private let commands: Commands
    private let slots: Int
    private let epoch: String
    private let busyChanged: @Sendable (Int) -> Void
    private let state = Mutex(State())

    /// - Parameter busyChanged: called with how many jobs run.
    init(commands: Commands, slots: Int, epoch: String, busyChanged: @escaping @Sendable (Int) -> Void) {
        self.commands = commands
        self.slots = slots
        self.epoch = epoch
        self.busyChanged = busyChanged
    }

    /// Runs a job that is new and has a slot. What is refused for want of a slot may come again.
    func start(_ job: Job, for client: ElementalDevice) {
        guard job.id.utf8.count <= Self.longestName else { return }
        let (answer, busy) = state.withLock { state -> (Report.State, Int?) in
            if let known = state.known[job.id] { return (known, nil) }
            guard job.epoch == epoch else { return (.refused("the node was restarted"), nil) }
            guard state.clients.count < slots else { return (.refused("the node is busy"), nil) }
            state.clients[job.id] = client
            Self.remember(job.id, .running(0), in: &state)
            return (.running(0), state.clients.count)
        }
        try? client.send(Report(job: job.id, state: answer), to: Cluster.report)
        guard let busy else { return }
        busyChanged(busy)
        Task { set(job.id, await run(job.work) { set(job.id, .running($0)) }) }
    }

    /// Tells what became of a job. One that is not known is refused for good, should it still be on its way.
    func inquire(_ job: Job, for client: ElementalDevice) {
        guard job.id.utf8.count <= Self.longestName else { return }
        let answer = state.withLock { state -> Report.State in
            if state.clients[job.id] != nil { state.clients[job.id] = client }
            if let known = state.known[job.id] { return known }
            guard job.epoch == epoch, !state.hasForgotten else { return .unknown }
            Self.remember(job.id, .refused("it never arrived"), in: &state)
            return .refused("it never arrived")
        }
        try? client.send(Report(job: job.id, state: answer), to: Cluster.report)
    }

    private static func remember(_ id: String, _ new: Report.State, in state: inout State) {
        state.known[id] = new
        state.order.append(id)
        guard state.order.count > longestMemory else { return }
        // The older half at once, but none that runs.
        let old = state.order.prefix(longestMemory / 2)
        state.order.removeFirst(old.count)
        state.order += old.filter { state.clients[$0] != nil }
        for id in old where state.clients[id] == nil { state.known[id] = nil }
        state.hasForgotten = true
    }

    /// Tells of a job's progress or end. A client that is away asks when it is back.
    private func set(_ id: String, _ new: Report.State) {
        let (client, busy) = state.withLock { state in
            state.known[id] = new
            if case .running = new { return (state.clients[id], nil as Int?) }
            return (state.clients.removeValue(forKey: id), state.clients.count)
        }
        if let busy { busyChanged(busy) }
        try? client?.send(Report(job: id, state: new), to: Cluster.report)
    }

    private func run(_ work: Job.Work, progress: (Double) -> Void) async -> Report.State {
        switch work {
        case .command(let name, let input): return await commands.run(name, input: input)
        case .primes(let limit):
            guard 2...10_000_000 ~= limit else { return .failed("primes are counted below 2 to 10,000,000") }
            var count = 0
            for number in 2..<limit {
                if !(2...).prefix(while: { $0 * $0 <= number }).contains(where: { number.isMultiple(of: $0) }) {
                    count += 1
                }
                // Others get their turn.
                if number.isMultiple(of: 1000) { await Task.yield() }
                if number.isMultiple(of: limit / 10 + 1) { progress(Double(number) / Double(limit)) }
            }
            return .done(String(count))
        }
    }
}
