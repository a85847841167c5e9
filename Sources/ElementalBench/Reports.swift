import Elemental

/// Asks a bench service for reports, one at a time.
struct Reports: Sendable {
    private let device: ElementalDevice
    private let arrivals: AsyncStream<SinkReport?>
    private let arrival: AsyncStream<SinkReport?>.Continuation
    private let registration: HandlerRegistration

    init(_ device: ElementalDevice) {
        self.device = device
        let (arrivals, arrival) = AsyncStream.makeStream(of: SinkReport?.self)
        self.arrivals = arrivals
        self.arrival = arrival
        registration = device.onValue(of: BenchElements.report) { arrival.yield($0) }
        device.onDisconnect { _, _ in arrival.finish() }
    }

    /// Asks for the report of a run and waits for it; the first time begins the run.
    func ask(_ run: UInt32, _ timeout: Duration) async throws(ElementalError) -> SinkReport {
        try await device.sendWhenReady(run, to: BenchElements.ask)
        // What is queued before it takes its time: the limit counts from when the queue is empty.
        while device.statistics.messagesUnsent > 0 {
            try await device.waitForRoom()
            await Delay.wait(.milliseconds(1))
            if Task.isCancelled {
                throw ElementalError(.cancelled, "the run was cancelled")
            }
        }
        let deadline = Task { [arrival] in
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
