import Elemental

/// A path to a bench service's echo and back: the element, and the receiver of the answers.
struct EchoLine<Value: NumberedValue>: Sendable {
    let device: ElementalDevice
    let element: Element<Value>
    let via: Via
    let timeout: Duration

    /// Stops delivering.
    struct Listening: Sendable {
        fileprivate let registration: HandlerRegistration?
        fileprivate let task: Task<Void, Never>?

        func cancel() {
            registration?.cancel()
            task?.cancel()
        }
    }

    func send(_ message: Value) throws(ElementalError) { try device.send(message, to: element) }

    /// Delivers the answers: on the event loop, or in a task that consumes an async stream.
    ///
    /// - Parameter measurement: fails when the connection ends.
    func listen<Report>(
        _ measurement: Measurement<Report>, _ take: @escaping @Sendable (Value) -> Void
    ) async throws(ElementalError) -> Listening {
        measurement.fail(whenEnded: device)
        guard via == .streams || via == .taskStreams else {
            return Listening(registration: device.onValue(of: element, perform: take), task: nil)
        }
        try await device.sendWhenReady(via == .streams, to: BenchElements.openStreams)
        // Datagrams may overtake the request, so wait for it: it is handled before the ping that follows it.
        _ = try await device.ping(timeout: timeout)
        let values = device.values(of: element)
        let task = Task(executorPreference: via == .streams ? device.executor : nil) {
            for await value in values { take(value) }
        }
        return Listening(registration: nil, task: task)
    }

    /// The error of messages that never come back.
    var silence: ElementalError {
        ElementalError(
            .timedOut,
            "\(device.name) sends nothing back over \(element.definition.transport.rawValue) within \(timeout)")
    }
}
