import Elemental

/// What a measurement that is driven by handlers comes to, for the task that waits for it.
struct Outcome<Value: Sendable>: Sendable {
    private let results: AsyncStream<Result<Value, ElementalError>>
    private let result: AsyncStream<Result<Value, ElementalError>>.Continuation

    init() { (results, result) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1)) }

    /// Sets the outcome; the first one counts.
    func end(_ result: Result<Value, ElementalError>) { self.result.yield(result) }

    /// Fails when the connection ends, if there is no outcome before.
    func fail(whenEnded device: ElementalDevice) {
        device.onDisconnect { [self] reason, device in
            end(.failure(ElementalError(.notConnected, "the connection to \(device.name) has ended: \(reason)")))
        }
    }

    /// Waits for the outcome, once.
    func wait() async throws(ElementalError) -> Value {
        for await result in results { return try result.get() }
        throw ElementalError(.cancelled, "the run was cancelled")
    }
}
