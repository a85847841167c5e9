/// How often a model changes, and how long a control counts as moving.
public struct ObservationPace: Sendable, Hashable {
    /// The minimum time between two updates of a model, by default a 60th of a second. However many values arrive,
    /// views are invalidated at most once in this time.
    public var frame: Duration = .seconds(1) / 60
    /// The time between two updates of ``ObservedDevice/statistics``. By default a second.
    public var statistics: Duration = .seconds(1)
    /// How long after the last write of an element its control ignores arriving values. By default 0.3 s, which is
    /// longer than a finger pauses during a movement.
    public var hold: Duration = .milliseconds(300)

    /// Creates a pace with the defaults.
    public init() {}
}
