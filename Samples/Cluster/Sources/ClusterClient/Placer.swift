import ClusterElements
import ClusterMembers
import Elemental
import Synchronization

/// Gets jobs run: each once, or it is told as lost.
///
/// The coordinator only says where a job may go. The client sends it there itself, to one node at a time, and to another one
/// only when the first has said that it did not run it. So a job that dies with its node is not run again.
final class Placer: Sendable {
    /// What became of a job.
    enum Outcome: Sendable {
        case done(String)
        case failed(String)
        /// It may have run on this node, or not.
        case lost(node: String)
        /// It did not run.
        case notPlaced(String)
    }

    private typealias Mailbox = AsyncStream<(node: String, state: Report.State)?>

    /// How long a node that is away may take to come back, and how long nobody may be there who coordinates.
    static let patience = Duration.seconds(15)

    private let members: Members
    private let mailboxes = Mutex<[String: Mailbox.Continuation]>([:])

    init(_ members: Members) { self.members = members }

    /// Follows the nodes until the task is cancelled.
    func run() async throws {
        try await members.run { [self] device in
            device.onValue(of: Cluster.report) { [self] report, device in
                _ = mailboxes.withLock { $0[report.job] }?.yield((device.name, report.state))
            }
        }
    }

    /// Runs a job to its end.
    ///
    /// - Parameter progress: called with the node that runs it, and how much of it is done, 0...1.
    func run(_ id: String, _ work: Job.Work, progress: (String, Double) -> Void) async -> Outcome {
        let (mail, mailbox) = Mailbox.makeStream(bufferingPolicy: .bufferingNewest(100))
        mailboxes.withLock { $0[id] = mailbox }
        defer { mailboxes.withLock { $0[id] = nil } }
        let ticks = Task {
            while !Task.isCancelled {
                mailbox.yield(nil)
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        defer { ticks.cancel() }
        /// The node that has the job, and the job as it was sent there.
        var sent: (node: String, job: Job)?
        var end = ContinuousClock.now + Self.patience
        var reason = "nobody coordinates"
        for await letter in mail {
            switch (letter?.state, sent) {
            case (nil, let sent?):
                // The report may have met a lost connection.
                if let node = members.device(named: sent.node) {
                    end = .now + Self.patience
                    try? node.send(sent.job, to: Cluster.inquiry)
                } else if end < .now {
                    return .lost(node: sent.node)
                }
            case (nil, nil):
                if end < .now {
                    return .notPlaced(members.present.isEmpty ? members.failure ?? "no node is there" : reason)
                }
                try? members.present.first?.send(id, to: Cluster.question)
            case (.goes(to: let name?), nil):
                guard let node = members.device(named: name), let epoch = node.value(of: Cluster.epoch) else {
                    continue
                }
                let job = Job(id: id, work: work, epoch: epoch)
                do { try node.send(job, to: Cluster.job) } catch { return .notPlaced(String(describing: error)) }
                sent = (name, job)
            case (.goes(to: nil), nil): end = .now + Self.patience
            case (let state?, let node?) where letter?.node == node.node:
                switch state {
                case .goes: break
                case .running(let part): progress(node.node, part)
                case .done(let text): return .done(text)
                case .failed(let reason): return .failed(reason)
                case .unknown: return .lost(node: node.node)
                case .refused(let why): (sent, reason) = (nil, why)
                }
            default: break
            }
        }
        return sent.map { .lost(node: $0.node) } ?? .notPlaced("it was cancelled")
    }
}
