import Synchronization

/// Tells a task or thread to stop.
final class StopFlag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}
