import Elemental
import Support

/// A run that sends messages to a bench service as fast as it accepts them, or at a rate, and counts what arrives.
///
/// The sender waits while the connection's queue is full, so that it never holds more unsent than the device's limit.
package struct ThroughputRun: Sendable {
    /// How much is sent.
    package enum Amount: Sendable {
        /// A number of messages.
        case count(Int)
        /// As many as can be sent in a time.
        case time(Duration)
    }

    package var transport = Transport.tcp
    package var amount = Amount.time(.seconds(2))
    /// The bytes of each message's value, from ``BenchElements/minimumByteCount``. A message of exactly that size is a
    /// number, a longer one is data.
    package var size = 64
    /// Messages a second; `nil` for as many as possible.
    package var rate: Double?
    /// Whether the sender runs on the connection's event loop, like a handler, rather than on a thread of the pool.
    package var isOnLoop = false
    /// How long to wait for the service's report.
    package var timeout: Duration = .seconds(5)

    /// 64 bytes over TCP as fast as possible, for 2 s.
    package init() {}

    /// The warm-up before messages are counted, so that both ends have their memory and code in the caches.
    private static let warmUpTime: Duration = .milliseconds(300)

    /// Measures.
    ///
    /// - Parameter device: a connection to a service of ``BenchService``.
    /// - Throws: ``ElementalError`` if the peer is not such a service, the connection ends or no report arrives.
    package func run(_ device: ElementalDevice) async throws(ElementalError) -> ThroughputReport {
        try BenchElements.check(device, "throughput")
        switch (size == BenchElements.minimumByteCount, transport) {
        case (true, .tcp): return try await run(device, BenchElements.number)
        case (true, .udp): return try await run(device, BenchElements.numberDatagram)
        case (false, .tcp): return try await run(device, BenchElements.data)
        case (false, .udp): return try await run(device, BenchElements.dataDatagram)
        }
    }

    private func run<Value: NumberedValue>(
        _ device: ElementalDevice, _ element: Element<Value>
    ) async throws(ElementalError) -> ThroughputReport {
        let reports = Reports(device: device, timeout: timeout)
        let sender = NumberedSender(device: device, element: element, byteCount: size, rate: rate)
        let warmUp = try await reports.begin()
        let warmUpCount = try await sender.send(run: warmUp, until: Self.limit(.time(Self.warmUpTime)))
        _ = try await reports.end(of: warmUp, sent: warmUpCount, over: transport)

        let run = try await reports.begin()
        let processorTime = ProcessorTime.seconds
        let start = MonotonicClock.nanoseconds
        let sent = try await send(sender, run)
        let sending = MonotonicClock.seconds(from: start, to: MonotonicClock.nanoseconds)
        let arrived = try await reports.end(of: run, sent: sent, over: transport)
        return ThroughputReport(
            transport: transport, sent: Int(sent), arrived: arrived.report, sending: sending,
            processorTime: arrived.processorTime - processorTime)
    }

    private func send<Value: NumberedValue>(
        _ sender: NumberedSender<Value>, _ run: UInt32
    ) async throws(ElementalError) -> UInt64 {
        let limit = Self.limit(amount)
        guard isOnLoop else { return try await sender.send(run: run, until: limit) }
        return try await withTaskExecutorPreference(sender.device.executor) { () async throws(ElementalError) in
            try await sender.send(run: run, until: limit)
        }
    }

    private static func limit(_ amount: Amount) -> @Sendable (UInt64) -> UInt64 {
        switch amount {
        case .count(let count):
            return { _ in UInt64(max(0, count)) }
        case .time(let time):
            let end = MonotonicClock.nanoseconds + UInt64(clamping: time.nanoseconds)
            return { $0 < end ? .max : 0 }
        }
    }
}
