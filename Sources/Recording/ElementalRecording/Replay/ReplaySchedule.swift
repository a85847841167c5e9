/// When the items of a recording are due: each by itself from the replay's beginning, so that no delay is added to another.
struct ReplaySchedule: Sendable {
    /// How many times as fast as it was recorded.
    let speed: Double
    /// The recording's time from which on it is replayed, in nanoseconds.
    private let start: Int64
    /// From the beginning of a round to that of the next, in nanoseconds of the recording.
    private let period: Int64

    init(_ recording: Recording, speed: Double, start: Duration) {
        self.init(
            speed: speed, start: start.nanoseconds, duration: recording.duration.nanoseconds,
            interval: Self.interval(recording))
    }

    init(speed: Double, start: Int64, duration: Int64, interval: Int64) {
        self.speed = speed
        self.start = start
        let rest = duration > start ? duration - start : 0
        // The first value comes again when the next one after the last would have come.
        period = rest.addingReportingOverflow(interval).overflow ? .max : rest + interval
    }

    /// The time from one value to the next of the element that has most of them; a second if there is only one.
    private static func interval(_ recording: Recording) -> Int64 {
        let most = recording.services.lazy.flatMap(\.valueCounts).joined().max() ?? 0
        guard most > 1 else { return 1_000_000_000 }
        return max(1, recording.duration.nanoseconds / Int64(most - 1))
    }

    /// When something is due, from the replay's beginning.
    ///
    /// - Parameters:
    ///   - time: in the recording.
    ///   - round: the number of the round, from 0.
    func due(_ time: Duration, round: Int) -> Duration {
        let inRound = max(0, time.nanoseconds - start)
        let nanoseconds = (Double(inRound) + Double(period) * Double(round)) / speed
        return .nanoseconds(nanoseconds < 9e18 ? Int64(nanoseconds) : .max)
    }
}
