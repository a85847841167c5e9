import Elemental
import Support

/// The result of a measurement: handlers set it, and a task waits for it.
struct Measurement<Value: Sendable>: Sendable {
    private let outcome = Outcome<Result<Value, ElementalError>>()

    /// Sets the result; the first one counts.
    func end(_ result: Result<Value, ElementalError>) { outcome.resolve(result) }

    /// Fails when the connection ends, if there is no result before.
    @discardableResult
    func fail(whenEnded device: ElementalDevice) -> HandlerRegistration {
        device.onDisconnect { [outcome] reason, device in
            let message = "the connection to \(device.name) has ended: \(reason)"
            outcome.resolve(.failure(ElementalError(.notConnected, message)))
        }
    }

    /// Waits for the result. Call it once.
    func result() async throws(ElementalError) -> Value {
        guard let result = await outcome.value() else { throw ElementalError(.cancelled, "the run was cancelled") }
        return try result.get()
    }
}

extension Result where Failure == ElementalError {
    /// What `body` returns or throws.
    init(_ body: () async throws(ElementalError) -> Success) async {
        do throws(ElementalError) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

/// Detects that a count which should grow has stopped growing.
struct Progress: Sendable {
    private let patience: Duration
    private var count = 0
    private var since = ContinuousClock.now

    /// - Parameter patience: how long the count may stay unchanged.
    init(patience: Duration) { self.patience = patience }

    /// Records the current count.
    ///
    /// - Returns: whether it has been unchanged for too long.
    mutating func hasStopped(at count: Int) -> Bool {
        let now = ContinuousClock.now
        if count > self.count {
            self.count = count
            since = now
        }
        return now - since >= patience
    }
}
