internal import Support

/// What is left out while a recording is read, and what may be wrong in what is read.
public final class RecordingLosses: Sendable {
    private struct State {
        var values: [String: Int] = [:]
        var damageCount = 0
    }

    private let state = Locked(State())

    /// Nothing is lost yet.
    public init() {}

    /// How many messages have no value of their element's type, or are not JSON, by `SERVICE/INSTANCE/ELEMENT` or the
    /// topic. Names from the file are in it.
    public var values: [String: Int] { state.withLock { $0.values } }

    /// Chunks whose checksum is wrong, so that their values may be, and records that are not as the format says.
    public var damageCount: Int { state.withLock { $0.damageCount } }

    /// Whether nothing is lost.
    public var isEmpty: Bool { state.withLock { $0.values.isEmpty && $0.damageCount == 0 } }

    func note(_ name: String) { state.withLock { $0.values[name, default: 0] += 1 } }

    func note(damageCount: Int) { state.withLock { $0.damageCount = damageCount } }

    /// The file is read once more.
    func reset() { state.withLock { $0 = State() } }
}
