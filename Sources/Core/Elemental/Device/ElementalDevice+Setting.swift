public import ElementalWire
import NIOCore
import Support

extension ElementalDevice {
    /// Sends a value and waits until the service has handled it.
    ///
    /// Set an element's values one after the other: a refusal names the element, not the value. A value over UDP is
    /// sent up to five times. To an older ElementalController, which confirms nothing, the value is only sent.
    ///
    /// - Throws: as ``sendWhenReady(_:to:isolation:)`` does; if the service refuses the value,
    ///   ``ElementalError/Code/outOfRange``, ``ElementalError/Code/notAllowed``, ``ElementalError/Code/notAuthorised``
    ///   or, if its program refuses it, ``ElementalError/Code/refused``. After ``ElementalError/Code/timedOut``,
    ///   ``ElementalError/Code/notConnected`` and ``ElementalError/Code/cancelled`` the service may still have applied
    ///   the value.
    public func set<Value>(
        _ value: Value, to element: Element<Value>, timeout: Duration = .seconds(5)
    ) async throws(ElementalError) {
        try await set(value.elementValue, to: element.definition, timeout: timeout)
    }

    /// Sends a value whose type is only known at run time and waits until the service has handled it.
    ///
    /// - Throws: ``ElementalError`` as the typed form does, and with the code ``ElementalError/Code/wrongType``.
    public func set(
        _ value: ElementValue, to element: ElementDefinition, timeout: Duration = .seconds(5)
    ) async throws(ElementalError) {
        let refusals = Refusals(of: self)
        let reconnections = state.withLock { $0.reconnectionCount }
        let outcome = Outcome<Result<Void, ElementalError>>()
        let setting = Task {
            do throws(ElementalError) {
                // The hello shows whether the service accepts empty values.
                if value.wireByteCount == 0 { await waitForHello(timeout) }
                try await sendWhenReady(value, to: element)
                try await waitUntilSent()
                try await waitUntilHandled([(element, value)], timeout: timeout)
                outcome.resolve(.success(()))
            } catch {
                outcome.resolve(.failure(error))
            }
        }
        defer { setting.cancel() }
        let late = ElementalError(.timedOut, "\(name) did not confirm '\(element.name)' within \(timeout)")
        let result = await outcome.value(within: TimeAmount(timeout), on: eventLoop) { .failure(late) }
        guard let result else { throw ElementalError(.cancelled, "setting '\(element.name)' was cancelled") }
        try result.get()
        guard state.withLock({ $0.reconnectionCount }) == reconnections else {
            throw ElementalError(.notConnected, "the connection was lost while '\(element.name)' was set")
        }
        if let error = refusals.error(from: name, among: [element]) { throw error }
    }

    private static let datagramAttempts = 5
    /// A service that sends no hello within this time is treated as an older one.
    private static let helloTime: Duration = .milliseconds(500)

    package func waitForHello(_ timeout: Duration) async {
        if hello == nil { _ = try? await catalogue(timeout: min(Self.helloTime, timeout)) }
    }

    /// Waits until the service has answered a ping that follows the sent values; refusals arrive before that answer.
    /// Does not wait for an older service, which answers no pings.
    ///
    /// - Parameter values: the sent values. Those over UDP are sent again until a ping that follows them is answered,
    ///   which makes it very likely that they arrived.
    package func waitUntilHandled(
        _ values: [(element: ElementDefinition, value: ElementValue)] = [], timeout: Duration
    ) async throws(ElementalError) {
        await waitForHello(timeout)
        if let reason = disconnectReason {
            throw ElementalError(.notConnected, "the connection to \(name) has ended: \(reason)")
        }
        guard hello?.features.contains(.ping) == true else { return }
        let datagrams = values.filter { $0.element.transport == .udp }
        for attempt in 1...Self.datagramAttempts where !datagrams.isEmpty {
            do throws(ElementalError) {
                _ = try await ping(over: .udp, timeout: timeout / (Self.datagramAttempts + 1))
                break
            } catch {
                guard error.code == .timedOut else { throw error }
                guard attempt < Self.datagramAttempts else {
                    throw ElementalError(
                        .timedOut,
                        "sent, but \(name) does not answer over UDP; the values may be lost (is UDP blocked?)")
                }
            }
            for (element, value) in datagrams { try send(value, to: element) }
        }
        _ = try await ping(timeout: timeout)
    }
}

/// Collects the refusals that a service sends while this object exists.
package final class Refusals: Sendable {
    private let refused = Locked<[Int8: ValueRefusal]>([:])
    private let registration: HandlerRegistration

    package init(of device: ElementalDevice) {
        registration = device.onRefusal { [refused] element, refusal, _ in
            refused.withLock { $0[element.id] = refusal }
        }
    }

    deinit { registration.cancel() }

    /// Returns an error with the elements whose values were refused and the reasons; `nil` if none was refused. Its
    /// code is ``ElementalError/Code/notAuthorised`` if a refusal has it, or else that of the first refusal.
    package func error(from service: String, among elements: [ElementDefinition]) -> ElementalError? {
        let refused = refused.withLock { refused in
            elements.compactMap { element in refused[element.id].map { (element.name, $0) } }
        }
        let codes = refused.map(\.1.code)
        guard let code = codes.first(where: { $0 == .notAuthorised }) ?? codes.first else { return nil }
        let reasons = refused.map { "'\($0)': \($1)" }
        return ElementalError(code, "\(service) refused \(reasons.joined(separator: "; "))")
    }
}

extension ValueRefusal {
    fileprivate var code: ElementalError.Code {
        switch reason {
        case .outOfRange, .notAChoice: .outOfRange
        case .notAllowed: .notAllowed
        case .notAuthorised: .notAuthorised
        case .refused: .refused
        }
    }
}
