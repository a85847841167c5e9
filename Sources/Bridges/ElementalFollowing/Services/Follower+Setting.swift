public import Elemental

/// The outcome of sending a value to a service.
public enum SetOutcome: Sendable {
    /// The service has handled it and did not refuse it.
    case taken
    /// It was not sent, or the service refused it; the error's code says why.
    case refused(ElementalError)
    /// There is no connection, or it was lost before the service answered. The value may be set nevertheless.
    case notConnected
    /// The service did not answer in time. The value may be set nevertheless.
    case timedOut
}

extension Follower {
    /// Sends a value to a service and waits until the service has handled it.
    ///
    /// If ``FollowerOptions/role`` is `observe`, the default, the service refuses every value.
    ///
    /// - Parameters:
    ///   - element: the element's name.
    ///   - key: the service.
    ///   - timeout: the maximum time for the whole call.
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
