import NIOCore

/// Pauses the device while a stream's consumer is behind, and removes the stream's handler when it is gone.
final class StreamDelegate: NIOAsyncSequenceProducerDelegate, Sendable {
    private struct State {
        var pause: UInt64?
        var registration: HandlerRegistration?
        var isOver = false
    }

    private let device: ElementalDevice
    private let state = Locked(State())

    init(device: ElementalDevice) { self.device = device }

    func adopt(_ registration: HandlerRegistration) {
        let isOver = state.withLock { state in
            state.registration = registration
            return state.isOver
        }
        if isOver { registration.cancel() }
    }

    func stopProducing() {
        let token = device.addPause(ofStream: true)
        let surplus = state.withLock { state -> UInt64? in
            guard state.pause == nil, !state.isOver else { return token }
            state.pause = token
            return nil
        }
        if let surplus { device.removePause(surplus) }
    }

    func produceMore() {
        if let pause = state.withLock({ $0.pause.take() }) { device.removePause(pause) }
    }

    func didTerminate() {
        let registration = state.withLock { state in
            state.isOver = true
            return state.registration.take()
        }
        registration?.cancel()
        produceMore()
    }
}
