import ElementalWire
import Histogram

/// The round-trip times of a run.
package struct LatencyReport: Sendable {
    /// The transport of the messages.
    package let transport: Transport
    /// How they were sent and received.
    package let via: Via
    /// Round trips that were answered.
    package private(set) var count = 0
    /// The load during the measurement.
    package internal(set) var load: LoadReport?
    /// Round trips that were not answered in time.
    package private(set) var lost = 0

    /// Nanoseconds, in three significant digits.
    private(set) var histogram: Histogram<UInt64>

    /// The longest time that is recorded exactly: a minute.
    private static let longest: UInt64 = 60_000_000_000

    /// An empty report.
    package init(transport: Transport, via: Via) {
        self.transport = transport
        self.via = via
        histogram = Histogram(highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .three)
    }

    /// Records an answered round trip.
    package mutating func record(_ time: Duration) { record(nanoseconds: time.nanoseconds) }

    /// Records an answered round trip.
    mutating func record(nanoseconds: UInt64) {
        _ = histogram.record(min(max(1, nanoseconds), Self.longest))
        count += 1
    }

    /// Records round trips that were not answered in time.
    package mutating func recordLosses(_ count: Int) { lost += count }

    /// A percentile of the round-trip times, in microseconds.
    package func percentile(_ percent: Double) -> Double { Double(histogram.valueAtPercentile(percent)) / 1000 }

    /// The longest round trip, in microseconds.
    package var maximum: Double { count == 0 ? 0 : Double(histogram.max) / 1000 }
    /// The shortest round trip, in microseconds.
    package var minimum: Double { count == 0 ? 0 : Double(histogram.min) / 1000 }
    /// The mean of the round trips, in microseconds.
    package var mean: Double { count == 0 ? 0 : histogram.mean / 1000 }
}
