import Synchronization

/// Whether those who can wait should, before they send: set by a send that filled a queue, and by the flush that emptied
/// it, each under the lock of the queues; asked without it.
struct Congestion: ~Copyable, Sendable {
    private let stream = Atomic(false)
    private let large = Atomic(false)

    /// Whether values that are sent whole had better wait.
    var isStream: Bool { stream.load(ordering: .relaxed) }
    /// Whether values that go in pieces had better wait.
    var isLarge: Bool { large.load(ordering: .relaxed) }
    var isAny: Bool { isStream || isLarge }

    /// Notes that those who wait do so for that.
    func set(_ wish: Outbound.Wish) {
        switch wish {
        case .room: stream.store(true, ordering: .relaxed)
        case .largeRoom: large.store(true, ordering: .relaxed)
        case .nothing: break
        }
    }

    /// Notes that one of the queues is full.
    @inline(__always)
    func note(_ outbound: borrowing Outbound) {
        if outbound.isCongested { stream.store(true, ordering: .relaxed) }
        if outbound.isLargeCongested { large.store(true, ordering: .relaxed) }
    }

    func set(stream isStream: Bool, large isLarge: Bool) {
        stream.store(isStream, ordering: .relaxed)
        large.store(isLarge, ordering: .relaxed)
    }
}
