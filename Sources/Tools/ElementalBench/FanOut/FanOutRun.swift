import Elemental
import Support

/// A run in which a bench service sends values to many devices at once, as fast as they accept them.
///
/// All devices are connections of this process. Deliveries are counted after a warm-up; all values of each device are
/// checked.
package struct FanOutRun: Sendable {
    package var deviceCount = 10
    /// How long deliveries are counted.
    package var duration: Duration = .seconds(2)
    /// The bytes of each value, from ``BenchElements/minimumByteCount``. A value of exactly that size is a number, a
    /// larger one is data.
    package var size = 8
    /// How long to wait for the service's report, and then for the values in flight.
    package var timeout: Duration = .seconds(5)

    /// 8 bytes to 10 devices for 2 s.
    package init() {}

    private static let warmUpTime: Duration = .milliseconds(300)

    /// Measures.
    ///
    /// - Parameters:
    ///   - device: a connection to a service of ``BenchService``, the first of the devices.
    ///   - connect: makes the others.
    /// - Throws: ``ElementalError`` if the peer is not such a service, a connection ends or no report arrives.
    package func run(
        _ device: ElementalDevice, connect: @escaping ConnectAnother
    ) async throws(ElementalError) -> FanOutReport {
        try BenchElements.check(device, "fanout")
        return try await Crowd.with(deviceCount - 1, allowsUDP: false, connect) {
            others async throws(ElementalError) in
            size == BenchElements.minimumByteCount
                ? try await run([device] + others, BenchElements.broadcastNumber)
                : try await run([device] + others, BenchElements.broadcastData)
        }
    }

    private func run<Value: NumberedValue>(
        _ devices: [ElementalDevice], _ element: Element<Value>
    ) async throws(ElementalError) -> FanOutReport {
        let run = MessageNumber.newRun()
        let audience = Audience(devices, run, element)
        defer { audience.end() }
        try await audience.begin(timeout)
        let broadcast = Broadcast(devices[0], run, timeout: timeout)
        defer { broadcast.cancel() }
        try await broadcast.begin(byteCount: size)
        guard try await audience.wait(for: 1, timeout) > 0 else {
            throw ElementalError(.timedOut, "\(devices[0].name) sent nothing within \(timeout)")
        }
        await Delay.wait(Self.warmUpTime)
        let (first, start) = (audience.count, MonotonicClock.nanoseconds)
        await Delay.wait(duration)
        let (last, end) = (audience.count, MonotonicClock.nanoseconds)
        let sent = try await broadcast.end(audience)
        let arrived = try await audience.wait(for: sent, timeout)
        return FanOutReport(
            devices: devices.count, deliveries: last - first,
            seconds: MonotonicClock.seconds(from: start, to: end), sent: Int(sent) * devices.count, arrived: arrived)
    }
}
