import NIOCore

/// Pauses the device while a stream's consumer is behind, and lets go of what the stream holds when it is gone.
final class StreamDelegate: NIOAsyncSequenceProducerDelegate, Sendable {
    /// How the stream took a value.
    enum Taken {
        case gladly
        /// It has enough now.
        case asTheLast
        /// It is over.
        case byNobody
    }

    private struct State {
        var pause: UInt64?
        var release: (@Sendable () -> Void)?
        var isOver = false
    }

    private let device: ElementalDevice
    private let state = Locked(State())

    init(device: ElementalDevice) { self.device = device }

    /// Runs `release` when the consumer is gone, or now if it is.
    func whenOver(_ release: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.release = release }
            return state.isOver
        }
        if isOver { release() }
    }

    /// Hands a value to the stream, and pauses the device if the stream has enough now.
    ///
    /// Both in one turn: a consumer that empties the stream in between asks for more only once, and would ask before
    /// there is a pause to take back. One that asked before, and is late, takes back too much, which the next value mends.
    ///
    /// - Parameter yield: gives the value to the stream.
    func handOn(_ yield: () -> Taken) {
        let isGone = state.withLock { state in
            let taken = yield()
            if taken == .asTheLast, state.pause == nil, !state.isOver {
                state.pause = device.addPause(ofStream: true)
            }
            return taken == .byNobody
        }
        // One that was iterated by a cancelled task before any value came ends without a word.
        if isGone { didTerminate() }
    }

    func produceMore() {
        if let pause = state.withLock({ $0.pause.take() }) { device.removePause(pause) }
    }

    func didTerminate() {
        let release = state.withLock { state in
            state.isOver = true
            return state.release.take()
        }
        release?()
        produceMore()
    }
}
