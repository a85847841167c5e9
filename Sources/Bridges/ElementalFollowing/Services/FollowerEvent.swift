public import Elemental

/// An event of a followed service. Names and messages contain text from the network.
public enum FollowerEvent: Sendable {
    /// A service was found, or Zeroconf's description of it has changed.
    case place(ServiceKey, ServicePlace)
    /// The connection to a service has another state.
    case state(ServiceKey, FollowedState)
    /// A value of a connected service, and when it was measured, if the service sends that.
    case value(ServiceKey, ElementDefinition, ElementValue, at: ReceivedTime? = nil)
    /// A value of an element's history, with its position, or a gap of missing values: see ``FollowerOptions/history``.
    case history(ServiceKey, ElementDefinition, HistoryItem<ElementValue>)
    /// The service refused a value that it was sent. The element's current value follows.
    case refusal(ServiceKey, ElementDefinition, ValueRefusal)
    /// A value was left out because the values of all services take too much memory; reported once per connection.
    case leftOut(ServiceKey, ElementDefinition, byteCount: Int)
    /// A ping's round trip.
    case roundTrip(ServiceKey, Duration)
    /// Browsing fails; the next attempt follows after the delay.
    case browsingFailed(ElementalError, retryIn: Duration)
    /// Browsing works again.
    case browsingWorks
    /// The number of services beyond ``FollowerOptions/maximumServiceCount``, which are not followed; 0 when there are none.
    case tooMany(Int)

    /// The service that the event concerns; `nil` if it concerns all.
    public var key: ServiceKey? {
        switch self {
        case .place(let key, _), .state(let key, _), .value(let key, _, _, _), .history(let key, _, _),
            .refusal(let key, _, _), .leftOut(let key, _, _), .roundTrip(let key, _):
            key
        case .browsingFailed, .browsingWorks, .tooMany: nil
        }
    }
}

/// The state of a followed service.
public enum FollowedState: Sendable {
    /// The first attempt is in progress, or one that the program has requested.
    case connecting
    /// Values arrive and can be sent. The device is the same after a reconnection, unless the service has another
    /// catalogue then.
    case connected(ElementalDevice, ElementCatalogue)
    /// The connection was lost or failed; the next attempt follows after the delay.
    case away(FollowingProblem, retryIn: Duration?)
    /// The service does not admit this client, or this client does not accept the service. The follower retries when
    /// the service's TXT record or the store of trusted services changes, after ``Follower/retry(_:)``, and every 30
    /// seconds.
    case refused(FollowingProblem)
    /// Zeroconf no longer lists it, and it is not connected. The last event of that key, unless the service returns.
    case gone
}

/// Why a followed service is not connected.
public struct FollowingProblem: Sendable, Hashable {
    /// The kind of problem, which determines the remedy.
    public enum Kind: Sendable, Hashable {
        /// The service requires a paired client, or one paired for a higher role: pairing helps.
        case notPaired
        /// An unencrypted peer turned this client away. If it requires paired clients, pairing helps.
        case turnedAway
        /// The peer has another key than the paired service. If that is right, forget the old key and pair again.
        case identityChanged
        /// It sends no catalogue, or one that cannot be decoded: it is an older ElementalController, or not an element
        /// service.
        case noElements
        /// The network or the service failed: waiting helps.
        case unreachable
    }

    /// The kind of problem.
    public let kind: Kind
    /// The code of the error or of the connection's end, one word: ``ElementalError/Code`` or ``DisconnectReason/code``.
    public let code: String
    /// What happened, for the user. It contains text from the network.
    public let message: String

    package init(_ kind: Kind, code: String, _ message: String) {
        self.kind = kind
        self.code = code
        self.message = message
    }

    init(_ error: ElementalError) {
        let kind: Kind =
            switch error.code {
            case .notPaired, .notAuthorised: .notPaired
            case .unauthenticated: .turnedAway
            case .identityChanged: .identityChanged
            case .catalogueUnavailable, .invalidCatalogue: .noElements
            default: .unreachable
            }
        let message =
            error.code == .catalogueUnavailable
            ? "sends no catalogue: it is an older ElementalController, or not an element service" : error.message
        self.init(kind, code: error.code.description, message)
    }

    init(_ reason: DisconnectReason) {
        self.init(.unreachable, code: reason.code, reason.description)
    }

    /// Whether waiting does not help.
    var isLasting: Bool { kind != .unreachable && kind != .turnedAway }
}
