import Elemental
import ElementalFollowing
import ElementalSecurity

/// What to type where a service and this client are not paired, or not for enough.
struct PairingAdvice: Sendable {
    let place: ServicePlace
    let access: ClientAccess

    var command: String { "elemental pair \(place.target.shellArgument)\(access.pairOptions)" }

    func command(as name: String) -> String { "\(command) --name \(name.shellArgument)" }

    /// A service on this machine may have the same identity, with which it cannot be paired.
    private var remedy: String {
        place.isLoopback && access.isUser
            ? "if it is this user's own, say --security paired; otherwise: \(command)" : command
    }

    /// What can be done about a problem, with a semicolon before it; empty if pairing does not help.
    func remedy(for kind: FollowingProblem.Kind) -> String {
        switch kind {
        case .notPaired: "; type: \(remedy)"
        case .turnedAway: "; if it wants paired clients, type: \(remedy)"
        case .identityChanged:
            "; type: elemental trust list\(access.stateOptions), elemental trust revoke NAME\(access.stateOptions), and "
                + "then \(command)"
        case .noElements, .unreachable: ""
        }
    }

    /// A failure to connect with what can be done about it; `nil` if it has to do with something else.
    func explain(_ error: ElementalError) -> CommandFailure? {
        let kinds: [ElementalError.Code: FollowingProblem.Kind] = [
            .notPaired: .notPaired, .identityChanged: .identityChanged, .unauthenticated: .turnedAway,
        ]
        return kinds[error.code].map { CommandFailure("\(error.code)", error.message + remedy(for: $0)) }
    }

    /// What lets this client set an element, with a semicolon before it; empty if pairing does not.
    func toControl(_ device: ElementalDevice) -> String {
        switch device.grantedRole {
        case .observe:
            "; this client is paired to observe: to control, pair again in a window that offers it: \(command)"
        case .control, .admin: ""
        case .plain, nil:
            // An older service knows no pairing, and an open one needs none.
            device.hello == nil || place.discovered?.security == .open
                ? "" : "; if clients have to be paired for that, type: \(remedy)"
        }
    }
}

extension ServicePlace {
    fileprivate var isLoopback: Bool {
        guard case .address(let host, _) = self else { return false }
        return ComparableHost(host).isLoopback
    }
}
