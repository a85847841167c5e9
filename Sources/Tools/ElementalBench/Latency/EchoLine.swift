import Elemental

/// A path to a bench service's echo and back: the element, and the receiver of the answers.
struct EchoLine<Value: NumberedValue>: Sendable {
    let device: ElementalDevice
    let element: Element<Value>
    let via: Via
    let timeout: Duration

    /// Sends a message, or drops it if the queue is full. Any other failure ends the measurement.
    @inline(__always)
    func send<Report>(_ message: Value, _ measurement: Measurement<Report>) {
        do throws(ElementalError) {
            try device.send(message, to: element)
        } catch {
            if error.code != .queueFull { measurement.end(.failure(error)) }
        }
    }

    /// Delivers the answers: on the event loop, or in a task that consumes an async stream.
    ///
    /// - Parameter measurement: fails when the connection ends.
    /// - Returns: a closure that stops the delivery.
    func listen<Report>(
        _ measurement: Measurement<Report>, _ take: @escaping @Sendable (Value) -> Void
    ) async throws(ElementalError) -> @Sendable () -> Void {
        measurement.fail(whenEnded: device)
        guard via == .streams || via == .taskStreams else {
            let registration = device.onValue(of: element, perform: take)
            return { registration.cancel() }
        }
        try await device.sendWhenReady(via == .streams, to: BenchElements.openStreams)
        // Datagrams may overtake the request, so wait for it: it is handled before the ping that follows it.
        _ = try await device.ping(timeout: timeout)
        let values = device.values(of: element)
        let task = Task(executorPreference: via == .streams ? device.executor : nil) {
            for await value in values { take(value) }
        }
        return { task.cancel() }
    }

    /// The error to report if no answer arrives.
    var silence: ElementalError {
        ElementalError(
            .timedOut,
            "\(device.name) sent nothing back over \(element.definition.transport.rawValue) within \(timeout)")
    }
}
