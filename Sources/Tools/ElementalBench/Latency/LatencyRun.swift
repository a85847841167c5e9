import Elemental

/// A run of round trips, consecutive or at a fixed rate.
///
/// At a rate, each round trip begins when it is due, whether or not the previous ones were answered, and is timed from
/// then. A stall of the peer therefore shows in all the round trips that it delays. Showing it in a single one would be
/// coordinated omission. With a ``Pace``, a round trip is timed from when it is sent.
package struct LatencyRun: Sendable {
    package var transport = Transport.tcp
    /// How messages are sent and received; `nil` for handlers if the peer is a bench service, for pings otherwise.
    package var via: Via?
    package var count = 10_000
    /// The bytes of each message's value, at least 8; at most 1,024 for pings.
    package var size = 8
    /// Round trips a second; `nil` for consecutive ones.
    package var rate: Double?
    /// How long a round trip may take before it counts as lost.
    package var timeout: Duration = .seconds(5)
    /// The sender of round trips at a rate, which sleeps in between; `nil` for a sender that polls the clock.
    package var pace: Pace?
    /// Whether the connection's event loop, which does not sleep, sends the round trips at a rate if there is no pace.
    /// Otherwise a separate thread sends them, which keeps another core busy.
    package var isPacedByLoop = false
    /// The load during the measurement; `nil` for none.
    package var load: Load?
    /// How many other devices send their motion, 120 times a second each, with the load ``Load/motion``.
    package var motionDeviceCount = 100

    /// 10,000 round trips of 8 bytes over TCP, one after another.
    package init() {}

    /// Round trips for warm-up, so that both ends have their memory and code in the caches.
    private static let warmUpCount = 1000

    /// Measures.
    ///
    /// - Parameters:
    ///   - device: a connection to a service of ``BenchService``, or for pings without a load to any service.
    ///   - connect: makes further connections, for a load that needs them.
    /// - Throws: ``ElementalError`` if the peer does not answer, is not a bench service although the run needs one, the
    ///   connection ends or the task is cancelled.
    package func run(
        _ device: ElementalDevice, connect: @escaping ConnectAnother
    ) async throws(ElementalError) -> LatencyReport {
        if let load { try BenchElements.check(device, "--beside \(load.rawValue)") }
        switch load {
        case .large:
            return try await LargeLoad(device: device, timeout: timeout).run { () async throws(ElementalError) in
                try await run(device)
            }
        case .motion:
            return try await Crowd.with(motionDeviceCount, allowsUDP: true, connect) {
                devices async throws(ElementalError) in
                try await MotionLoad(devices: devices, timeout: timeout).run { () async throws(ElementalError) in
                    try await run(device)
                }
            }
        case nil:
            return try await run(device)
        }
    }

    private func run(_ device: ElementalDevice) async throws(ElementalError) -> LatencyReport {
        if pace != nil { try BenchElements.check(device, "--pace") }
        let via = via ?? (BenchElements.areKnown(to: device) ? .handlers : .ping)
        var report = LatencyReport(transport: transport, via: via)
        if via == .ping {
            guard size <= PingTrips.maximumSize else {
                throw ElementalError(
                    .invalidValue,
                    "\(device.name) answers only pings, of at most \(PingTrips.maximumSize) bytes; give a smaller --size"
                )
            }
            let trips = PingTrips(
                device: device, transport: transport, count: count, size: size, rate: rate, timeout: timeout)
            return try await trips.run(report, warmUpCount: warmUpCount)
        }
        try BenchElements.check(device, "a round trip by \(via.rawValue)")
        report.oneWay = try await OneWayTrips(device, over: transport, count: count, rate: rate, timeout: timeout).run()
        let isStream = via != .handlers
        let echo =
            switch transport {
            case .tcp: isStream ? BenchElements.streamEcho : BenchElements.echo
            case .udp: isStream ? BenchElements.streamEchoDatagram : BenchElements.echoDatagram
            }
        return size == BenchElements.minimumByteCount
            ? try await run(EchoLine(device: device, element: echo.number, via: via, timeout: timeout), report)
            : try await run(EchoLine(device: device, element: echo.data, via: via, timeout: timeout), report)
    }

    private var warmUpCount: Int { min(Self.warmUpCount, count) }

    private func run<Value>(
        _ line: EchoLine<Value>, _ report: LatencyReport
    ) async throws(ElementalError) -> LatencyReport {
        // Losses need no exact time, and frequent checks would disturb the measurement.
        let interval = max(.milliseconds(1), min(timeout / 4, .seconds(1)))
        let trips = EchoTrips(
            line, report, warmUpCount: warmUpCount, count: rate == nil ? count : 0, size: size, timeout: timeout)
        let first = try await trips.run(watching: interval)
        guard let rate else { return first }
        return try await PacedEchoTrips(
            line, report, count: count, size: size, rate: rate, pace: pace, isPacedByLoop: isPacedByLoop
        ).run()
    }
}
