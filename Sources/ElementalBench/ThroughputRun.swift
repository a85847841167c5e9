public import Elemental

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// A run that sends messages to a bench service as fast as it takes them, or at a rate, and counts what arrives.
///
/// The sender waits while the connection's queue is full, so that it never holds more unsent than the device's limit.
public struct ThroughputRun: Sendable {
    /// Which way the messages travel.
    public var transport = Transport.tcp
    /// How many messages are sent.
    public var count = 200_000
    /// The bytes of each message's value, from ``BenchElements/minimumByteCount``.
    public var size = 64
    /// Messages a second; `nil` for as many as possible.
    public var rate: Double?
    /// How long to wait for the other end's report.
    public var timeout: Duration = .seconds(5)

    /// 200,000 messages of 64 bytes over TCP as fast as possible.
    public init() {}

    /// Over UDP the run is over when everything has arrived, or nothing more for this long.
    private static let quietTime: Duration = .milliseconds(200)

    /// Measures.
    ///
    /// - Parameter device: a connection to a service of ``BenchService``.
    /// - Throws: ``ElementalError`` if the other end is no such service, the connection ends or no report comes.
    public func run(_ device: ElementalDevice) async throws(ElementalError) -> ThroughputReport {
        guard device.knownElements.elements == BenchElements.all.elements else {
            throw ElementalError(
                .unknownElement,
                "\(device.name) is no bench service, which throughput needs; start one there with: elemental bench serve"
            )
        }
        let reports = Reports(device)
        defer { reports.end() }
        let run = UInt32.random(in: 1...UInt32.max)
        _ = try await reports.ask(run, timeout)
        let start = ContinuousClock.now
        try await send(run, to: device, from: start)
        let sending = (ContinuousClock.now - start) / .seconds(1)
        var report = try await reports.ask(run, timeout)
        if transport == .udp {
            var quietSince = ContinuousClock.now
            while report.messages < count, ContinuousClock.now - quietSince < Self.quietTime {
                await Delay.wait(.milliseconds(20))
                let next = try await reports.ask(run, timeout)
                if next.messages > report.messages { quietSince = .now }
                report = next
            }
        }
        return ThroughputReport(transport: transport, sent: count, arrived: report, sending: sending)
    }

    private func send(
        _ run: UInt32, to device: ElementalDevice, from start: ContinuousClock.Instant
    ) async throws(ElementalError) {
        let element = transport == .tcp ? BenchElements.stream : BenchElements.datagram
        var message = Data(repeating: 0, count: size)
        for number in 0..<UInt32(count) {
            if let rate { await wait(until: start + .seconds(Double(number) / rate)) }
            message.withUnsafeMutableBytes { bytes in
                bytes.storeBytes(of: run.littleEndian, as: UInt32.self)
                bytes.storeBytes(of: number.littleEndian, toByteOffset: 4, as: UInt32.self)
            }
            try await device.sendWhenReady(message, to: element)
        }
    }

    /// Waiting for less than a timer can tell would only slow down: those messages go together.
    private func wait(until due: ContinuousClock.Instant) async {
        guard due - .now > .milliseconds(1) else { return }
        await Delay.wait(due - .now)
    }
}
