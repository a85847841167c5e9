import Elemental
import Support

/// Requests reports from a bench service, one at a time.
struct Reports: Sendable {
    private let device: ElementalDevice
    private let timeout: Duration
    private let arrivals: AsyncStream<SinkReport?>
    private let arrival: AsyncStream<SinkReport?>.Continuation
    private let registration: HandlerRegistration

    /// Over UDP a run is over when everything has arrived, or nothing more for this long.
    private static let quietTime: Duration = .milliseconds(200)

    /// - Parameter timeout: how long a report may take.
    init(_ device: ElementalDevice, timeout: Duration) {
        self.device = device
        self.timeout = timeout
        let (arrivals, arrival) = AsyncStream.makeStream(
            of: SinkReport?.self, bufferingPolicy: .bufferingNewest(1024))
        self.arrivals = arrivals
        self.arrival = arrival
        registration = device.onValue(of: BenchElements.report) { arrival.yield($0) }
        device.onDisconnect { _, _ in arrival.finish() }
    }

    /// Makes the service start a run.
    ///
    /// - Returns: the run's number.
    func begin() async throws(ElementalError) -> UInt32 {
        let run = MessageNumber.newRun()
        _ = try await ask(run)
        return run
    }

    /// Waits until all messages of a run have arrived, or no more arrive.
    ///
    /// - Returns: the report, and the processor time that this process has used until all was sent, in seconds.
    func end(
        of run: UInt32, sent: UInt64, over transport: Transport
    ) async throws(ElementalError) -> (report: SinkReport, processorTime: Double) {
        var report = try await ask(run)
        let processorTime = ProcessorTime.seconds
        // Over TCP nothing gets lost, but the request overtakes a large value that goes in pieces.
        var progress = Progress(patience: transport == .udp ? Self.quietTime : timeout)
        while report.messages < Int(sent), !progress.hasStopped(at: report.messages) {
            await Delay.wait(.milliseconds(20))
            let next = try await ask(run)
            // A report without news would only add the CPU time of requesting it.
            if next.messages > report.messages { report = next }
        }
        return (report, processorTime)
    }

    /// Asks for the report of a run and waits for it; the first time begins the run.
    private func ask(_ run: UInt32) async throws(ElementalError) -> SinkReport {
        try await device.sendWhenReady(run, to: BenchElements.ask)
        // What is queued before the request takes time: the limit starts when the queue is empty.
        while device.statistics.messagesUnsent > 0 {
            try await device.waitForRoom()
            await Delay.wait(.milliseconds(1))
            if Task.isCancelled {
                throw ElementalError(.cancelled, "the run was cancelled")
            }
        }
        let deadline = Task { [arrival, timeout] in
            await Delay.wait(timeout)
            if !Task.isCancelled { arrival.yield(nil) }
        }
        defer { deadline.cancel() }
        for await report in arrivals {
            guard let report else {
                throw ElementalError(.timedOut, "\(device.name) did not report within \(timeout)")
            }
            if report.run == run { return report }
        }
        if let reason = device.disconnectReason {
            throw ElementalError(.notConnected, "the connection to \(device.name) has ended: \(reason)")
        }
        throw ElementalError(.cancelled, "the run was cancelled")
    }

    func end() {
        registration.cancel()
        arrival.finish()
    }
}
