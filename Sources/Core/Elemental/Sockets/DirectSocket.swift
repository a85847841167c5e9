import Support
import Synchronization

/// A channel's socket for other threads than the event loop's.
///
/// It has a descriptor of its own, a duplicate of the channel's: the channel may close its descriptor at any moment,
/// after which the system may give the number to another socket. The duplicate is only made when a thread first asks
/// for it. While it is open, so is the socket: close it before the channel is closed, or as soon as it is.
struct DirectSocket: ~Copyable, Sendable {
    private static let unwanted: UInt32 = 0
    /// A thread has asked for it.
    private static let wanted: UInt32 = 1 << 31
    /// Open; the lower bits count the threads that use it.
    private static let open: UInt32 = 1 << 30
    /// There is no socket, or no other thread may begin to use it. The last thread that uses it closes the descriptor.
    private static let closed: UInt32 = 1 << 29

    private let state = Atomic(Self.unwanted)
    private let descriptor = Atomic<CInt>(-1)

    /// - Parameter ask: called only the first time, to ask the owner to open the socket.
    func isOpen(orAsk ask: () -> Void) -> Bool {
        let current = state.load(ordering: .relaxed)
        if current & Self.open != 0 { return true }
        if current == Self.unwanted, exchange(Self.unwanted, Self.wanted) { ask() }
        return false
    }

    /// Opens the socket, unless the descriptor cannot be duplicated, or only by using one that connections leave free.
    ///
    /// - Parameter original: the channel's descriptor; `nil` if the channel is closed or no socket.
    func open(_ original: CInt?) {
        let duplicate = original.map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? -1
        let isUsable = duplicate >= 0 && !DescriptorLimit.isReserved(duplicate)
        if isUsable { descriptor.store(duplicate, ordering: .relaxed) }
        if exchange(Self.wanted, isUsable ? Self.open : Self.closed), isUsable { return }
        if duplicate >= 0 { _ = Self.close(duplicate) }
    }

    /// Passes its descriptor to `body`, which must not block and must not keep it.
    ///
    /// - Returns: `nil` if it is not open.
    func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result? {
        var current = state.load(ordering: .relaxed)
        while true {
            guard current & Self.open != 0 else { return nil }
            let (isExchanged, original) = state.weakCompareExchange(
                expected: current, desired: current + 1, ordering: .acquiringAndReleasing)
            if isExchanged { break }
            current = original
        }
        let descriptor = descriptor.load(ordering: .relaxed)
        defer {
            if state.subtract(1, ordering: .acquiringAndReleasing).newValue == Self.closed {
                _ = Self.close(descriptor)
            }
        }
        return body(descriptor)
    }

    func close() {
        var current = state.load(ordering: .relaxed)
        while current & Self.closed == 0 {
            let (isExchanged, original) = state.weakCompareExchange(
                expected: current, desired: current & ~(Self.open | Self.wanted) | Self.closed,
                ordering: .acquiringAndReleasing)
            if isExchanged {
                if current == Self.open { _ = Self.close(descriptor.load(ordering: .relaxed)) }
                return
            }
            current = original
        }
    }

    private func exchange(_ expected: UInt32, _ desired: UInt32) -> Bool {
        state.compareExchange(expected: expected, desired: desired, ordering: .acquiringAndReleasing).exchanged
    }

    private static let close: @Sendable (CInt) -> CInt = Support.close
}
