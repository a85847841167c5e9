public import Elemental
internal import Support

/// Replays a recording in its own time, or faster or slower.
///
/// ```swift
/// let recording = try await Recording(path: "robot.mcap")
/// let service = recording.services[0].makeService()
/// try await service.start()
/// try await Replay().run(recording, on: [service])
/// await service.stop()
/// ```
/// Each value is due at a time of its own, counted from the beginning: what comes late once does not make the rest late.
public struct Replay: Sendable {
    /// How many times as fast as it was recorded, above 0.
    public var speed = 1.0
    /// Whether it begins again after the last value, until the task is cancelled. The first value comes again after the
    /// last one as one value comes after another.
    public var loops = false
    /// The recording's time at which to begin. The values that the elements had then come first.
    public var start = Duration.zero
    /// The time since the replay's beginning.
    var clock: @Sendable () -> @Sendable () -> Duration = {
        let beginning = ContinuousClock.now
        return { .now - beginning }
    }
    var wait: @Sendable (Duration) async -> Void = { await Delay.wait($0) }

    /// The defaults: once, at its own speed, from its beginning.
    public init() {}

    private static let longestWait = Duration.seconds(3600)

    /// Calls `deliver` with each value and event when it is due.
    ///
    /// - Parameter losses: counts what is left out; with ``loops`` that of the present round.
    /// - Throws: ``RecordingError`` if the file cannot be read any more or has no values to replay; `CancellationError`;
    ///   what `deliver` throws.
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

    /// Sends the values to services, which are as ``RecordedService/makeService(name:configuration:)`` made them, in the
    /// order of ``Recording/services``. Where the recorded service had other elements from a time on, so has the replayed
    /// one.
    ///
    /// - Parameters:
    ///   - losses: counts what is left out; with ``loops`` that of the present round.
    ///   - note: called with each value, and why a service or one of its devices did not take it; `nil` if all that
    ///     are connected did.
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
                    // A client that is leaving does not keep the value from the service.
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
    /// When the value was measured if it was recorded at this moment; `nil` if it has no time.
    fileprivate var time: MeasurementTime? {
        guard element.timed else { return nil }
        return MeasurementTime(microseconds: MeasurementTime.now.microseconds &- age.nanoseconds / 1000)
    }
}

/// When the items of a recording are due: each by itself from the replay's beginning, so that no delay is added to another.
struct ReplaySchedule: Sendable {
    var speed: Double
    /// The recording's time from which on it is replayed, in nanoseconds.
    var start: Int64
    var duration: Int64
    /// After which the first value comes again behind the last one.
    var interval: Int64

    /// From the beginning of a round to that of the next, in nanoseconds of the recording.
    private var period: Int64 { (duration > start ? duration - start : 0).clampedSum(interval) }

    /// When what has that time in the recording is due in a round, from the replay's beginning.
    func due(_ time: Duration, round: Int) -> Duration {
        let inRound = max(0, time.nanoseconds - start)
        let nanoseconds = (Double(inRound) + Double(period) * Double(round)) / speed
        return .nanoseconds(nanoseconds < 9e18 ? Int64(nanoseconds) : .max)
    }
}

extension Recording {
    /// The time from one value to the next of the element that has most of them, in nanoseconds; a second if there is only
    /// one.
    fileprivate var interval: Int64 {
        let most = services.lazy.flatMap(\.valueCounts).joined().max() ?? 0
        return most > 1 ? max(1, duration.nanoseconds / Int64(most - 1)) : 1_000_000_000
    }
}

/// What holds at the time at which a replay begins: of each element the newest value, of each service the newest event.
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

    /// Everything in its order; the next time there is nothing.
    mutating func take() -> [RecordedItem] {
        guard !items.isEmpty else { return [] }
        defer { items = [:] }
        return items.values.sorted { $0.number < $1.number }.map(\.item)
    }
}
