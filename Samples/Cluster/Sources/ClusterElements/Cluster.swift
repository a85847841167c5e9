public import Elemental

/// A cluster node's elements, shared by nodes and clients.
public enum Cluster {
    public static let service = "cluster"

    public static let load = Element<Float>(1, "Processor load", unit: "%", access: .read, latest: true)
    public static let memory = Element<Float>(2, "Memory used", unit: "%", access: .read, latest: true)
    /// Not sent by a machine without a sensor.
    public static let temperature = Element<Float>(3, "Temperature", unit: "°C", access: .read, latest: true)
    /// "coordinator" or "worker".
    public static let role = Element<String>(4, "Role", access: .read)
    /// How many jobs it runs, and how many it runs at once.
    public static let busy = Element<UInt8>(5, "Busy", access: .read)
    public static let slots = Element<UInt8>(6, "Slots", access: .read)
    /// Another one each time the node's process starts: it then knows nothing of earlier jobs.
    public static let epoch = Element<String>(7, "Epoch", access: .read)
    /// The names of the commands that it runs.
    public static let commands = Element<String>(8, "Commands", access: .read)
    /// Asks the coordinator which node a job may go to, by the job's number. The answer is a report; others do not answer.
    public static let question = Element<String>(9, "Question", access: .write)
    /// Starts a job. Whoever sent it gets the reports, and nobody else.
    public static let job = Element<JSON<Job>>(10, "Job", access: .write)
    /// Asks what became of a job, after a connection was lost. One that never arrived is never run from then on.
    public static let inquiry = Element<JSON<Job>>(11, "Inquiry", access: .write)
    public static let report = Element<JSON<Report>>(12, "Report", access: .read)

    public static let all: ElementCatalogue = [
        load, memory, temperature, role, busy, slots, epoch, commands, question, job, inquiry, report,
    ]
}

/// Something for one node to do, once.
public struct Job: Codable, Sendable {
    public enum Work: Codable, Sendable {
        /// One of the commands that the node allows, with a text at its standard input.
        case command(name: String, input: String)
        /// Counts the primes below a number.
        case primes(below: Int)
    }

    /// Different for every job of every client.
    public var id: String
    public var work: Work
    /// The node's epoch that the client knew.
    public var epoch: String

    public init(id: String, work: Work, epoch: String) {
        (self.id, self.work, self.epoch) = (id, work, epoch)
    }
}

/// What a node says of a job.
public struct Report: Codable, Sendable {
    public enum State: Codable, Sendable {
        /// The coordinator's answer: the node that has room for it; `nil` if all are busy.
        case goes(to: String?)
        /// It runs; how much of it is done, 0...1.
        case running(Double)
        case done(String)
        /// It ran and failed.
        case failed(String)
        /// It did not run here and will not, unless it is sent again: another node may have it.
        case refused(String)
        /// The node was restarted since, or has forgotten: it may have run or not.
        case unknown
    }

    public var job: String
    public var state: State

    public init(job: String, state: State) {
        (self.job, self.state) = (job, state)
    }
}
