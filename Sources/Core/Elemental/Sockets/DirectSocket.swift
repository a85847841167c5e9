import Support
import Synchronization

/// A connection's socket for one thread at a time other than the event loop's.
///
/// It has a descriptor of its own, a duplicate of the channel's: the channel may close its descriptor at any moment,
/// after which the system may give the number to another socket. The duplicate is only made when a thread first asks
/// for it. While it is open, so is the connection: close it as soon as the channel is closed.
struct DirectSocket: ~Copyable, Sendable {
    private enum State: UInt8, AtomicRepresentable {
        /// No thread has asked for it.
        case unwanted
        /// A thread has asked for it.
        case wanted
        case free
        /// A thread writes.
        case inUse
        /// Closed, or to be closed by the thread that writes; or there is none.
        case closed
    }

    private let state = Atomic(State.unwanted)
    private let descriptor = Atomic<CInt>(-1)

    /// Whether a thread has asked for it.
    var isWanted: Bool { state.load(ordering: .relaxed) == .wanted }

    /// Whether it can be written to. If it was never opened, the owner is asked to.
    func isOpenOrWanted() -> Bool {
        switch state.load(ordering: .acquiring) {
        case .free, .inUse: return true
        case .unwanted: _ = exchange(.unwanted, .wanted)
        case .wanted, .closed: break
        }
        return false
    }

    /// Opens it: unless the descriptor cannot be duplicated, or only by using one of those that connections leave free.
    ///
    /// - Parameter socket: the open channel's; `nil` if there is none.
    func open(_ socket: StreamSocket?) {
        let duplicate = socket.map { fcntl($0.descriptor, F_DUPFD_CLOEXEC, 0) } ?? -1
        let isUsable = duplicate >= 0 && !DescriptorLimit.isReserved(duplicate)
        if isUsable { descriptor.store(duplicate, ordering: .relaxed) }
        if exchange(.wanted, isUsable ? .free : .closed), isUsable { return }
        if duplicate >= 0 { _ = Self.close(duplicate) }
    }

    /// Writes two byte ranges, one after the other, unless it is closed.
    ///
    /// - Returns: how many bytes the system accepted.
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        guard exchange(.free, .inUse) else { return 0 }
        let socket = StreamSocket(descriptor: descriptor.load(ordering: .relaxed))
        let count = socket.write(first, second, more: false)
        if !exchange(.inUse, .free) { _ = Self.close(socket.descriptor) }
        return count
    }

    /// Closes it, or has the thread that writes close it.
    func close() {
        guard state.exchange(.closed, ordering: .acquiringAndReleasing) == .free else { return }
        _ = Self.close(descriptor.load(ordering: .relaxed))
    }

    private func exchange(_ expected: State, _ desired: State) -> Bool {
        state.compareExchange(expected: expected, desired: desired, ordering: .acquiringAndReleasing).exchanged
    }

    private static let close: @Sendable (CInt) -> CInt = Support.close
}
