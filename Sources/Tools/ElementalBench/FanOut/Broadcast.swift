import Elemental
import Support

/// A broadcast of a bench service, from the view of the device that requests it.
struct Broadcast: Sendable {
    private let device: ElementalDevice
    private let run: UInt32
    private let timeout: Duration
    private let measurement = Measurement<UInt64>()
    private let registration: HandlerRegistration

    init(_ device: ElementalDevice, _ run: UInt32, timeout: Duration) {
        self.device = device
        self.run = run
        self.timeout = timeout
        registration = device.onValue(of: BenchElements.broadcastReport) { [measurement] report in
            if report.run == run { measurement.end(.success(report.sent)) }
        }
        measurement.fail(whenEnded: device)
    }

    func begin(byteCount: Int) async throws(ElementalError) {
        try device.send(BroadcastRequest(run: run, byteCount: byteCount), to: BenchElements.broadcast)
    }

    /// Ends the broadcast. The number of its values is sent after them, so this takes until they have arrived.
    ///
    /// - Returns: how many values it had.
    func end(_ audience: Audience) async throws(ElementalError) -> UInt64 {
        try device.send(BroadcastRequest(run: run), to: BenchElements.broadcast)
        let watch = Task { [measurement, device, timeout] in
            var progress = Progress(patience: timeout)
            while !progress.hasStopped(at: audience.count) {
                await Delay.wait(.milliseconds(20))
                if Task.isCancelled { return }
            }
            measurement.end(.failure(ElementalError(.timedOut, "\(device.name) did not report within \(timeout)")))
        }
        defer { watch.cancel() }
        return try await measurement.result()
    }

    /// Ends the broadcast without waiting.
    func cancel() {
        registration.cancel()
        try? device.send(BroadcastRequest(run: run), to: BenchElements.broadcast)
    }
}
