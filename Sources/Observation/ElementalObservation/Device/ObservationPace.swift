/// How often a model changes, and how long a control counts as being moved.
public struct ObservationPace: Sendable, Hashable {
    /// The shortest time between two updates of a model: however many values arrive, views are invalidated at most once in
    /// that time. By default a 60th of a second.
    public var frame: Duration = .seconds(1) / 60
    /// The time between two updates of ``ObservedDevice/statistics``. By default a second.
    public var statistics: Duration = .seconds(1)
    /// How long after the last write of an element the values that arrive for it do not move its control. By default 0.3
    /// s: more than a finger rests while it moves.
    public var hold: Duration = .milliseconds(300)

    /// The defaults.
    public init() {}
}
