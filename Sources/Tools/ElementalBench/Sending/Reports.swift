import Elemental
import Support

/// Requests reports from a bench service, one at a time.
struct Reports: Sendable {
    let device: ElementalDevice
    /// How long a report may take.
    let timeout: Duration

    /// Over UDP, a run is over when everything has arrived, or when nothing more arrives for this long.
    private static let quietTime: Duration = .milliseconds(200)

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
            // If no message has arrived since, a newer report would only add the CPU time of requesting it.
            if next.messages > report.messages { report = next }
        }
        return (report, processorTime)
    }

    /// Asks for the report of a run and waits for it; the first time begins the run.
    private func ask(_ run: UInt32) async throws(ElementalError) -> SinkReport {
        let measurement = Measurement<SinkReport>()
        let registration = device.onValue(of: BenchElements.report) { report in
            if report.run == run { measurement.end(.success(report)) }
        }
        let ending = measurement.fail(whenEnded: device)
        defer {
            registration.cancel()
            ending.cancel()
        }
        try await device.sendWhenReady(run, to: BenchElements.ask)
        // Messages that are queued before the request take time, so the timeout starts when the queue is empty.
        while device.statistics.messagesUnsent > 0 {
            try await device.waitForRoom()
            await Delay.wait(.milliseconds(1))
            if Task.isCancelled { throw ElementalError(.cancelled, "the run was cancelled") }
        }
        let deadline = Task { [device, timeout] in
            await Delay.wait(timeout)
            measurement.end(.failure(ElementalError(.timedOut, "\(device.name) did not report within \(timeout)")))
        }
        defer { deadline.cancel() }
        return try await measurement.result()
    }
}
