public import ElementalWire
import Synchronization

extension ElementalService {
    /// Accepts each value of the element that a client sends, and forwards it to all devices, the sender included.
    ///
    /// ```swift
    /// service.relay(Lamp.brightness)
    /// service.relay(Lamp.brightness) { value, device in
    ///     guard !isLocked else { throw ValueRefusal("the lamp is locked") }
    ///     return min(value, 0.5)
    /// }
    /// ```
    /// A device that connects later receives the newest accepted value.
    /// - Parameters:
    ///   - element: values of a write-only one are accepted but not forwarded.
    ///   - decide: returns the value to accept. Throwing refuses the value: the sender receives the refusal, as a
    ///     ``ValueRefusal`` or with the error's description, and the current value. It runs on the service's event loop
    ///     and must not block.
    @discardableResult
    public func relay<Value>(
        _ element: Element<Value>,
        deciding decide: @escaping @Sendable (Value, ElementalDevice) throws -> Value = { value, _ in value }
    ) -> HandlerRegistration {
        addHandler(for: element.id) { [weak self] bytes, device in
            guard let self else { return }
            guard let value = Value(received: bytes) else { return device.noteUndecodable(element.id) }
            refuseOnError(element.definition, from: device) {
                let accepted = try decide(value, device)
                if element.definition.access.contains(.read) {
                    try self.send(accepted, to: element, at: device.time(of: element)?.time)
                }
            }
        }
    }

    /// Accepts and forwards values like the synchronous form, where accepting one takes time, such as for a motor
    /// behind a slow bus: `decide` may wait.
    ///
    /// ```swift
    /// service.relay(Lamp.brightness) { value, _ in
    ///     try await motor.turn(to: value)
    ///     return value
    /// }
    /// ```
    /// One value is decided at a time. Of the values that arrive meanwhile, from any client, only the newest is kept;
    /// the others are not answered. A client's ping is answered once the values before it are decided.
    @discardableResult
    public func relay<Value>(
        _ element: Element<Value>, deciding decide: @escaping @Sendable (Value, ElementalDevice) async throws -> Value
    ) -> HandlerRegistration {
        relay(element.definition, reading: { Value(received: $0) }, decide) { try $0.send($1, to: element, at: $2) }
    }

    /// Accepts and forwards values of an element known at run time; `decide` may wait.
    ///
    /// - Parameter decide: returns the value to accept, of the same type; throws to refuse it.
    @discardableResult
    public func relay(
        _ element: ElementDefinition,
        deciding decide: @escaping @Sendable (ElementValue, ElementalDevice) async throws -> ElementValue
    ) -> HandlerRegistration {
        relay(element, reading: { ElementValue(received: $0, type: element.type) }, decide) {
            try $0.send($1, to: element, at: $2)
        }
    }

    private func relay<Value: Sendable>(
        _ element: ElementDefinition, reading read: @escaping @Sendable (ReceivedBytes) -> Value?,
        _ decide: @escaping @Sendable (Value, ElementalDevice) async throws -> Value,
        send: @escaping @Sendable (ElementalService, Value, MeasurementTime?) throws -> [SendFailure]
    ) -> HandlerRegistration {
        let decisions = Decisions<Value>()
        return addHandler(for: element.id) { [weak self] bytes, device in
            guard let value = read(bytes) else { return device.noteUndecodable(element.id) }
            let time = device.time(of: element)?.time
            guard decisions.begin(with: value, from: device, at: time) else { return }
            Task { [weak self] in
                while let (value, device, time, decision) = decisions.next() {
                    do {
                        let accepted = try await decide(value, device)
                        if element.access.contains(.read), let self { _ = try send(self, accepted, time) }
                    } catch {
                        self?.refuse(element, from: device, ValueRefusal(because: error))
                    }
                    withExtendedLifetime(decision) {}
                }
            }
        }
    }

    /// Accepts each value of any element that a client sends, and forwards it to all devices, the sender included.
    ///
    /// - Parameter decide: returns the value to accept, of the same type; throws to refuse it.
    @discardableResult
    public func relayAll(
        deciding decide:
            @escaping @Sendable (ElementDefinition, ElementValue, ElementalDevice) throws -> ElementValue = {
                _, value, _ in value
            }
    ) -> HandlerRegistration {
        onAnyValue { [weak self] element, value, device in
            guard let self else { return }
            refuseOnError(element, from: device) {
                let accepted = try decide(element, value, device)
                guard element.access.contains(.read) else { return }
                try self.send(accepted, to: element, at: device.time(of: element)?.time)
            }
        }
    }

    /// Notifies a device that its value was refused, and sends it the current value.
    ///
    /// For handlers that decide themselves. A value outside the element's range, or of an element that clients may not
    /// set, is refused before it reaches a handler. An older ElementalController is not notified.
    public func refuse(_ element: ElementDefinition, from device: ElementalDevice, _ refusal: ValueRefusal) {
        shared.refuse(element.id, from: device, refusal)
        device.wake()
    }

    private func refuseOnError(
        _ element: ElementDefinition, from device: ElementalDevice, _ accept: () throws -> Void
    ) {
        do {
            try accept()
        } catch {
            refuse(element, from: device, ValueRefusal(because: error))
        }
    }
}

extension ValueRefusal {
    fileprivate init(because error: any Error) { self = error as? ValueRefusal ?? ValueRefusal("\(error)") }
}

/// Keeps the newest value of one element that waits for a decision.
private final class Decisions<Value: Sendable>: Sendable {
    private struct State {
        var isBusy = false
        var waiting: (value: Value, device: ElementalDevice, time: MeasurementTime?, decision: PendingDecision)?
    }

    private let state = Mutex(State())

    /// - Returns: whether the caller has to start deciding.
    func begin(with value: Value, from device: ElementalDevice, at time: MeasurementTime?) -> Bool {
        let decision = device.beginDecision()
        // The replaced decision is released outside the lock.
        let (isFirst, replaced) = state.withLock { state in
            defer { (state.isBusy, state.waiting) = (true, (value, device, time, decision)) }
            return (!state.isBusy, state.waiting)
        }
        withExtendedLifetime(replaced) {}
        return isFirst
    }

    /// - Returns: `nil` if no value waits; the caller must stop then, and ``begin(with:from:at:)`` starts deciding
    ///   again.
    func next() -> (value: Value, device: ElementalDevice, time: MeasurementTime?, decision: PendingDecision)? {
        state.withLock { state in
            state.isBusy = state.waiting != nil
            return state.waiting.take()
        }
    }
}
