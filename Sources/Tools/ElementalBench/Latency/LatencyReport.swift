import ElementalWire
import Histogram

/// The round-trip times of a run.
package struct LatencyReport: Sendable {
    /// Which way the messages travelled.
    package let transport: Transport
    /// How they were sent and received.
    package let via: Via
    /// Round trips that were answered.
    package private(set) var count = 0
    /// What went over the network beside them.
    package internal(set) var load: LoadReport?
    /// Round trips that were not answered in time.
    package private(set) var lost = 0

    /// Nanoseconds, in three significant digits.
    private(set) var histogram: Histogram<UInt64>

    /// The longest time told apart from longer ones: a minute.
    private static let longest: UInt64 = 60_000_000_000

    /// A report of nothing yet.
    package init(transport: Transport, via: Via) {
        self.transport = transport
        self.via = via
        histogram = Histogram(highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .three)
    }

    /// Takes in an answered round trip.
    package mutating func record(_ time: Duration) { record(nanoseconds: time.nanoseconds) }

    /// Takes in an answered round trip.
    mutating func record(nanoseconds: UInt64) {
        _ = histogram.record(min(max(1, nanoseconds), Self.longest))
        count += 1
    }

    /// Takes in round trips that were not answered in time.
    package mutating func recordLosses(_ count: Int) { lost += count }

    /// The time within which that share of the round trips was answered, in microseconds.
    package func percentile(_ percent: Double) -> Double { Double(histogram.valueAtPercentile(percent)) / 1000 }

    /// The longest round trip, in microseconds.
    package var maximum: Double { count == 0 ? 0 : Double(histogram.max) / 1000 }
    /// The shortest round trip, in microseconds.
    package var minimum: Double { count == 0 ? 0 : Double(histogram.min) / 1000 }
    /// The mean of the round trips, in microseconds.
    package var mean: Double { count == 0 ? 0 : histogram.mean / 1000 }
}
