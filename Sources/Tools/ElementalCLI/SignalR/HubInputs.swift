import Elemental
import ElementalFollowing
import Support

/// The queue of a bridging. It keeps only the newest connection or end of each service, so that services that come and go while
/// the bridging waits for standard output take no more room.
final class HubInputs: Sendable {
    enum Input: Sendable {
        /// An attempt to connect failed before any succeeded.
        case failure(ElementalError)
        case connected(ServiceKey, ElementalDevice, ElementCatalogue)
        /// A service that was taken as connected is gone.
        case gone(ServiceKey)
    }

    private struct State {
        /// The first failure; `nil` once it was taken.
        var failure: ElementalError?
        /// Whether a failure does not matter any more: one has come before, or a connection.
        var ignoresFailures = false
        /// Services that wait: with a device those that are connected, without one those that are gone.
        var waiting: [ServiceKey: (device: ElementalDevice, elements: ElementCatalogue)?] = [:]
        /// Services that were taken as connected.
        var taken: Set<ServiceKey> = []
    }

    private let state = Locked(State())
    /// Something waits.
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init() { (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func put(_ failure: ElementalError) {
        state.withLock { state in
            if !state.ignoresFailures { state.failure = failure }
            state.ignoresFailures = true
        }
        arrival.yield()
    }

    func put(_ state: FollowedState, of key: ServiceKey) {
        self.state.withLock { inputs in
            switch state {
            case .connected(let device, let elements):
                inputs.waiting[key] = .some((device, elements))
                inputs.ignoresFailures = true
            case .gone: inputs.waiting[key] = inputs.taken.contains(key) ? .some(nil) : nil
            case .connecting, .away, .refused: break
            }
        }
        arrival.yield()
    }

    /// Nothing comes any more.
    func finish() { arrival.finish() }

    /// Calls `body` with each input until ``finish()`` or the task is cancelled.
    func forEach(_ body: (Input) async throws -> Void) async throws {
        for await _ in arrivals {
            while let input = take() { try await body(input) }
        }
    }

    private func take() -> Input? {
        state.withLock { state in
            if let failure = state.failure.take() { return .failure(failure) }
            guard let (key, connection) = state.waiting.popFirst() else { return nil }
            guard let connection else {
                state.taken.remove(key)
                return .gone(key)
            }
            state.taken.insert(key)
            return .connected(key, connection.device, connection.elements)
        }
    }
}
