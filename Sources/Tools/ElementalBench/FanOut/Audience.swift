import Elemental
import Support

/// The receivers of a broadcast, each with a count of its values.
struct Audience: Sendable {
    private let devices: [ElementalDevice]
    private let sinks: [Sink]
    private let registrations: [HandlerRegistration]

    init<Value: NumberedValue>(_ devices: [ElementalDevice], _ run: UInt32, _ element: Element<Value>) {
        self.devices = devices
        let sinks = devices.map { _ in Sink(run: run) }
        self.sinks = sinks
        registrations = zip(devices, sinks).map { device, sink in
            device.onValue(of: element) { sink.take($0, over: .tcp) }
        }
    }

    /// Waits until every device counts: a handler is added in an iteration of its device's event loop, and the answer to
    /// a ping arrives in a later one.
    ///
    /// - Throws: ``ElementalError`` if a device does not answer in time.
    func begin(_ timeout: Duration) async throws(ElementalError) {
        for device in devices { _ = try await device.ping(timeout: timeout) }
    }

    /// How many values have arrived so far, at all devices together.
    var count: Int { sinks.reduce(0) { $0 + $1.count } }

    /// Waits until the devices have the given number of values on average, or nothing more arrives within the time.
    ///
    /// - Returns: how many have arrived at all devices together.
    /// - Throws: ``ElementalError`` if a connection has ended or the task is cancelled.
    func wait(for sent: UInt64, _ quietTime: Duration) async throws(ElementalError) -> Int {
        var progress = Progress(patience: quietTime)
        while true {
            try check()
            let count = count
            if count >= Int(sent) * sinks.count || progress.hasStopped(at: count) { return count }
            await Delay.wait(.milliseconds(5))
        }
    }

    func end() {
        for registration in registrations { registration.cancel() }
    }

    private func check() throws(ElementalError) {
        if Task.isCancelled { throw ElementalError(.cancelled, "the run was cancelled") }
        for device in devices {
            guard let reason = device.disconnectReason else { continue }
            throw ElementalError(.notConnected, "a connection to \(device.name) has ended: \(reason)")
        }
    }
}
