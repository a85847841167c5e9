public import Elemental
internal import Support

/// Replays a recording at its original speed, or faster or slower.
///
/// ```swift
/// let recording = try await Recording(path: "robot.mcap")
/// let service = recording.services[0].makeService()
/// try await service.start()
/// try await Replay().run(recording, on: [service])
/// await service.stop()
/// ```
/// Each value is due at a time counted from the start of the replay, so that one late value does not delay the rest.
public struct Replay: Sendable {
    /// The factor of the original speed, above 0.
    public var speed = 1.0
    /// Whether to start again after the last value, until the task is cancelled. The pause before the first value is
    /// the usual one between two values.
    public var loops = false
    /// Where to start in the recording's time. The values that the elements had at that time come first.
    public var start = Duration.zero
    /// Starts a clock, which returns the time since the start of the replay.
    var clock: @Sendable () -> @Sendable () -> Duration = {
        let beginning = ContinuousClock.now
        return { .now - beginning }
    }
    var wait: @Sendable (Duration) async -> Void = { await Delay.wait($0) }

    /// Creates a replay with the defaults: once, at the original speed, from the beginning.
    public init() {}

    private static let longestWait = Duration.seconds(3600)

    /// Calls `deliver` with each value and event when it is due.
    ///
    /// - Parameter losses: counts what is left out; with ``loops`` in the current round.
    /// - Throws: ``RecordingError`` if the file cannot be read any more or has no values to replay;
    ///   `CancellationError`; any error of `deliver`.
    public func run(
        _ recording: Recording, losses: RecordingLosses = RecordingLosses(),
        isolation: isolated (any Actor)? = #isolation,
        _ deliver: (RecordedItem) async throws -> Void
    ) async throws {
        guard recording.valueCount > 0, start <= recording.duration else {
            throw RecordingError(
                .nothingToReplay,
                recording.valueCount > 0
                    ? "\(recording.path) ends after \(recording.duration), before the time at which to begin"
                    : "\(recording.path) has no values that can be replayed")
        }
        let schedule = ReplaySchedule(
            speed: speed, start: start.nanoseconds, duration: recording.duration.nanoseconds,
            interval: recording.interval)
        let elapsed = clock()
        var round = 0
        repeat {
            var earlier = EarlierItems()
            losses.reset()
            for try await item in recording.items(losses) {
                if item.time < start {
                    earlier.add(item)
                    continue
                }
                for item in earlier.take() {
                    try await waitUntil(schedule.due(start, round: round), elapsed)
                    try await deliver(item)
                }
                try await waitUntil(schedule.due(item.time, round: round), elapsed)
                try await deliver(item)
            }
            round += 1
        } while loops
    }

    /// Sends the values to services that ``RecordedService/makeService(name:configuration:)`` has created, in the order
    /// of ``Recording/services``. If the recorded service's catalogue changes, so does that of the replayed one.
    ///
    /// - Parameters:
    ///   - losses: counts what is left out; with ``loops`` in the current round.
    ///   - note: called with each value, and why the service or one of its devices did not accept it; `nil` if all
    ///     connected ones did.
    public func run(
        _ recording: Recording, on services: [ElementalService], losses: RecordingLosses = RecordingLosses(),
        isolation: isolated (any Actor)? = #isolation,
        _ note: (RecordedValue, ElementalError?) -> Void = { _, _ in }
    ) async throws {
        try await run(recording, losses: losses) { item in
            switch item.content {
            case .value(let value):
                guard services.indices.contains(value.service) else { return }
                do throws(ElementalError) {
                    let failures = try services[value.service].send(value.value, to: value.element, at: value.time)
                    // The service has accepted the value even if a client that is leaving has not.
                    note(value, failures.first { $0.error.code != .notConnected }?.error)
                } catch {
                    note(value, error)
                }
            case .event(let event, let place?):
                guard services.indices.contains(place), let elements = recording.services[place].elements(from: event),
                    services[place].elements != elements
                else { return }
                services[place].update(elements: elements)
            case .event(_, nil): break
            }
        }
    }

    private func waitUntil(
        _ due: Duration, _ elapsed: @Sendable () -> Duration, isolation: isolated (any Actor)? = #isolation
    ) async throws {
        try Task.checkCancellation()
        var rest = due - elapsed()
        while rest > .zero {
            await wait(min(rest, Self.longestWait))
            try Task.checkCancellation()
            rest = due - elapsed()
        }
    }
}

extension RecordedValue {
    /// When the value would have been measured if it were recorded now; `nil` if it has no time.
    fileprivate var time: MeasurementTime? {
        guard element.timed else { return nil }
        return MeasurementTime(microseconds: MeasurementTime.now.microseconds &- age.nanoseconds / 1000)
    }
}

/// When the items of a recording are due, each counted from the start of the replay, so that delays do not add up.
struct ReplaySchedule: Sendable {
    var speed: Double
    /// The recording's time at which to start, in nanoseconds.
    var start: Int64
    var duration: Int64
    /// The pause between the last value and the first one of the next round.
    var interval: Int64

    /// The time from the start of one round to the start of the next, in nanoseconds of the recording.
    private var period: Int64 { (duration > start ? duration - start : 0).clampedSum(interval) }

    /// Returns when an item of this time in the recording is due in a round, counted from the start of the replay.
    func due(_ time: Duration, round: Int) -> Duration {
        let inRound = max(0, time.nanoseconds - start)
        let nanoseconds = (Double(inRound) + Double(period) * Double(round)) / speed
        return .nanoseconds(nanoseconds < 9e18 ? Int64(nanoseconds) : .max)
    }
}

extension Recording {
    /// The mean time between two values of the element with the most values, in nanoseconds; a second if there is only
    /// one.
    fileprivate var interval: Int64 {
        let most = services.lazy.flatMap(\.valueCounts).joined().max() ?? 0
        return most > 1 ? max(1, duration.nanoseconds / Int64(most - 1)) : 1_000_000_000
    }
}

/// The state at the start of a replay: each element's newest value, and each service's newest `connected` event.
private struct EarlierItems {
    private struct Key: Hashable {
        var service: Int
        /// `nil` for the service's event.
        var element: Int8?
    }

    private var items: [Key: (number: Int, item: RecordedItem)] = [:]
    private var count = 0

    mutating func add(_ item: RecordedItem) {
        count += 1
        switch item.content {
        case .value(let value): items[Key(service: value.service, element: value.element.id)] = (count, item)
        case .event(let event, let service?) where event.kind == .connected:
            items[Key(service: service)] = (count, item)
        case .event: break
        }
    }

    /// Returns all items in their order, and removes them.
    mutating func take() -> [RecordedItem] {
        guard !items.isEmpty else { return [] }
        defer { items = [:] }
        return items.values.sorted { $0.number < $1.number }.map(\.item)
    }
}
