import Elemental
import ElementalWire
import Support

/// Messages to a bench service and their answers, each timed by when the service received the message.
///
/// The value of a message is its sending time, so an answer needs no lookup.
struct OneWayTrips: Sendable {
    /// The maximum number of trips: the two clocks may drift apart meanwhile, which widens the error.
    private static let maximumCount = 200
    /// The maximum duration of the trips at a rate, in seconds, for the same reason.
    private static let maximumSeconds = 1.0
    /// How often to check for answers. Over UDP, the next consecutive message is sent if none arrived in this time.
    private static let lookTime: Duration = .milliseconds(200)
    /// After this time without an answer, all messages that were sent at a rate have arrived or are lost.
    private static let quietTime: Duration = .milliseconds(1200)

    private struct State {
        var times = OneWayTimes()
        /// When the newest message was sent.
        var newest = MeasurementTime.now
    }

    private let device: ElementalDevice
    private let stamp: BenchElements.Stamp
    private let transport: Transport
    /// Trips a second; `nil` for consecutive ones.
    private let rate: Double?
    private let count: Int
    private let timeout: Duration
    private let begin = MeasurementTime.now
    private let state = Locked(State())
    private let measurement = Measurement<Void>()

    /// - Parameters:
    ///   - count: the maximum number of trips.
    ///   - rate: trips a second; `nil` for consecutive ones.
    ///   - timeout: how long to wait for the next answer.
    init(_ device: ElementalDevice, over transport: Transport, count: Int, rate: Double?, timeout: Duration) {
        self.device = device
        self.transport = transport
        stamp = transport == .tcp ? BenchElements.stamp : BenchElements.stampDatagram
        self.rate = rate
        let due = rate.map { Int(max(1, $0 * Self.maximumSeconds)) } ?? Self.maximumCount
        self.count = min(count, due, Self.maximumCount)
        self.timeout = timeout
    }

    /// - Returns: the times of the answered messages; `nil` if there are none, or the ends have not compared their clocks.
    func run() async throws(ElementalError) -> OneWayTimes? {
        // The service answers the first clock exchange before this ping, which follows it.
        _ = try await device.ping(timeout: timeout)
        let registration = device.onTimedValue(of: stamp.received) { sent, received, _ in
            take(MeasurementTime(microseconds: sent), received, returned: .now)
        }
        let ending = measurement.fail(whenEnded: device)
        let pacer = Pacer(count: count, rate: rate ?? 1, isExact: false)
        if rate == nil { send() } else { pacer.start { _ in send() } }
        let watch = Task {
            var (seen, quiet) = (0, Duration.zero)
            while quiet < (seen == 0 || rate == nil ? timeout : Self.quietTime) {
                await Delay.wait(Self.lookTime)
                if Task.isCancelled { return }
                let count = state.withLock { $0.times.count }
                quiet = count > seen ? .zero : quiet + Self.lookTime
                seen = count
                // A message or its answer may be lost.
                if rate == nil, transport == .udp, quiet > .zero { send() }
            }
            measurement.end(.success(()))
        }
        defer {
            registration.cancel()
            ending.cancel()
            pacer.cancel()
            watch.cancel()
        }
        try await measurement.result()
        return state.withLock { $0.times.count > 0 ? $0.times : nil }
    }

    private func send() {
        let now = MeasurementTime.now
        state.withLock { $0.newest = now }
        do throws(ElementalError) {
            try device.send(now.microseconds, to: stamp.sent)
        } catch {
            if error.code != .queueFull { measurement.end(.failure(error)) }
        }
    }

    private func take(_ sent: MeasurementTime, _ received: ReceivedTime?, returned now: MeasurementTime) {
        // The element's newest value may still be the answer to a message of an earlier run.
        guard sent >= begin, sent <= now else { return }
        let (isLast, isNewest) = state.withLock { state in
            if let received { state.times.add(sent: sent, received, returned: now) }
            return (state.times.count >= count, sent == state.newest)
        }
        if isLast { measurement.end(.success(())) } else if rate == nil, isNewest { send() }
    }
}

/// How long messages took to the service, and its answers back, in microseconds.
package struct OneWayTimes: Sendable {
    private struct Trip {
        var out: Double
        var back: Double
        var error: Double
    }

    private var trips: [Trip] = []

    package init() {}

    var count: Int { trips.count }

    package mutating func add(sent: MeasurementTime, _ received: ReceivedTime, returned: MeasurementTime) {
        trips.append(
            Trip(
                out: Double(received.time.microseconds - sent.microseconds),
                back: Double(returned.microseconds - received.time.microseconds),
                error: received.error / .microseconds(1)))
    }

    /// The trips with a small error. The first trips may come before the two clocks are compared precisely.
    private var settled: [Trip] {
        let least = trips.lazy.map(\.error).min() ?? 0
        return trips.filter { $0.error <= 2 * least }
    }

    /// The maximum error of any of the times, if the service is honest.
    package var error: Double { settled.lazy.map(\.error).max() ?? 0 }

    /// A percentile of the times to the service. As an estimate it may be below 0, by less than ``error``.
    package func out(_ percent: Double) -> Double { Self.percentile(percent, settled.map(\.out)) }

    package func back(_ percent: Double) -> Double { Self.percentile(percent, settled.map(\.back)) }

    private static func percentile(_ percent: Double, _ times: [Double]) -> Double {
        guard !times.isEmpty else { return 0 }
        return times.sorted()[Int((Double(times.count - 1) * percent / 100).rounded())]
    }
}
