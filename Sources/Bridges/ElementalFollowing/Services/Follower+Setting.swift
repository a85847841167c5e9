public import Elemental

/// The outcome of sending a value to a service.
public enum SetOutcome: Sendable {
    /// The service has handled it without refusing it.
    case taken
    /// It was not sent, or the service refused it; the error's code says why.
    case refused(ElementalError)
    /// There is no connection, or it was lost before the service answered: the value may be set all the same.
    case notConnected
    /// The service did not answer in time: the value may be set all the same.
    case timedOut
}

extension Follower {
    /// Sends a value to a service and waits until the service has handled it.
    ///
    /// The service grants the role that ``FollowerOptions/role`` asks for: with `observe` it refuses every value.
    ///
    /// - Parameters:
    ///   - element: the element's name.
    ///   - key: the service.
    ///   - timeout: how long all of it may take.
    public func set(
        _ value: ElementValue, of element: String, at key: ServiceKey, timeout: Duration = .seconds(5)
    ) async -> SetOutcome {
        guard let device = device(of: key), device.isConnected else { return .notConnected }
        guard let definition = options.followed(device.knownElements)[element] else {
            return .refused(ElementalError(.unknownElement, "'\(key)' has no element '\(element)'"))
        }
        do throws(ElementalError) {
            try await device.set(value, to: definition, timeout: timeout)
            return .taken
        } catch {
            switch error.code {
            case .notConnected, .cancelled: return .notConnected
            case .timedOut: return .timedOut
            default: return .refused(error)
            }
        }
    }
}
