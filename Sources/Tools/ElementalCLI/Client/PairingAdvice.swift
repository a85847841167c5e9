import Elemental
import ElementalFollowing
import ElementalSecurity

/// The commands that help when this client is not paired with a service, or its role is too low.
struct PairingAdvice: Sendable {
    let place: ServicePlace
    let access: ClientAccess

    var command: String { "elemental pair \(place.target.shellArgument)\(access.pairOptions)" }

    func command(as name: String) -> String { "\(command) --name \(name.shellArgument)" }

    /// A service on this machine may have the user's own identity, and then cannot be paired with it.
    private var remedy: String {
        place.isLoopback && access.isUser
            ? "if it is this user's own, use --security paired; otherwise: \(command)" : command
    }

    /// The advice for a problem, with a semicolon before it; empty if pairing does not help.
    func remedy(for kind: FollowingProblem.Kind) -> String {
        switch kind {
        case .notPaired: "; type: \(remedy)"
        case .turnedAway: "; if it requires paired clients, type: \(remedy)"
        case .identityChanged:
            "; type: elemental trust list\(access.stateOptions), elemental trust revoke NAME\(access.stateOptions), and "
                + "then \(command)"
        case .noElements, .unreachable: ""
        }
    }

    /// A failure to connect, with advice; `nil` if pairing does not help.
    func explain(_ error: ElementalError) -> CommandFailure? {
        let kinds: [ElementalError.Code: FollowingProblem.Kind] = [
            .notPaired: .notPaired, .identityChanged: .identityChanged, .unauthenticated: .turnedAway,
        ]
        return kinds[error.code].map { CommandFailure("\(error.code)", error.message + remedy(for: $0)) }
    }

    /// The advice for a client that may not set an element, with a semicolon before it; empty if pairing does not help.
    func adviceToControl(_ device: ElementalDevice) -> String {
        switch device.grantedRole {
        case .observe:
            "; this client may only observe; to control, pair again while the service offers that role: \(command)"
        case .control, .admin: ""
        case .plain, nil:
            // An older service does not support pairing, and an open one does not need it.
            device.hello == nil || place.discovered?.security == .open
                ? "" : "; if this requires pairing, type: \(remedy)"
        }
    }
}

extension ServicePlace {
    fileprivate var isLoopback: Bool {
        guard case .address(let host, _) = self else { return false }
        return ComparableHost(host).isLoopback
    }
}
