package import Elemental
package import ElementalWire

/// What happens to the services that are followed. Names, reasons and messages have text from the network in them.
package enum SessionEvent: Sendable {
    /// A service was found, or what Zeroconf says of it has changed.
    case place(ServiceKey, ServicePlace)
    case state(ServiceKey, SessionState)
    /// A value of a service that is connected.
    case value(ServiceKey, ElementDefinition, ElementValue)
    /// The service refused a value that it was sent. The element's current value follows.
    case refusal(ServiceKey, ElementDefinition, ValueRefusal)
    /// A value of so many bytes is left out, because those of all services take too much; told once for each connection.
    case leftOut(ServiceKey, ElementDefinition, byteCount: Int)
    /// A ping's way there and back.
    case roundTrip(ServiceKey, Duration)
    /// Browsing does not work, for this reason; the next attempt follows after the delay.
    case browsingFailed(ElementalError, retryIn: Duration)
    /// Browsing works again.
    case browsingWorks
    /// There are so many services more than may be followed, which are left out; 0 when there are none any more.
    case tooMany(Int)

    /// The service that it is about.
    package var key: ServiceKey? {
        switch self {
        case .place(let key, _), .state(let key, _), .value(let key, _, _), .refusal(let key, _, _),
            .leftOut(let key, _, _), .roundTrip(let key, _):
            key
        case .browsingFailed, .browsingWorks, .tooMany: nil
        }
    }
}

/// How it stands with a service that is followed.
package enum SessionState: Sendable {
    /// The first attempt, or one that was asked for, is being made.
    case connecting
    /// Values come and can be sent. The device is the same after a connection that was lost and restored; it is another
    /// one if the service has another catalogue then.
    case connected(ElementalDevice, ElementCatalogue)
    /// The connection was lost or not made, for this reason, a code, and with these words; the next attempt follows after the
    /// delay. `mayPair`: it was turned away by whatever answered without encryption. If that wants paired clients, pairing
    /// helps.
    case away(reason: String, message: String, retryIn: Duration?, mayPair: Bool = false)
    /// The service does not admit this client, or this client does not accept the service. It is tried again when the
    /// service's TXT record or the store of trusted services changes, when that is asked for, and every 30 seconds.
    case refused(SessionRefusal)
    /// It is listed no more, and not connected. The last event of that key, unless the service returns.
    case gone
}

/// Why there is no connection, where waiting does not mend it.
package struct SessionRefusal: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The service asks for clients that are paired, or paired for more.
        case notPaired
        /// What answers is not the service that was paired.
        case identityChanged
        /// It tells no elements, or such that cannot be read.
        case other
    }

    package let kind: Kind
    /// The code of the error.
    package let reason: String
    /// What to say to the user. Text from the network is in it.
    package let message: String

    package init(_ kind: Kind, _ reason: String, _ message: String) {
        self.kind = kind
        self.reason = reason
        self.message = message
    }

    /// The refusal that an error is; `nil` if it has to do with something else, so that another attempt may succeed.
    init?(_ error: ElementalError) {
        let reason = error.code.description
        switch error.code {
        case .notPaired, .notAuthorised: self.init(.notPaired, reason, error.message)
        case .identityChanged: self.init(.identityChanged, reason, error.message)
        case .catalogueUnavailable:
            self.init(
                .other, reason, "tells no elements: it is an older ElementalController, or not an element service")
        case .invalidCatalogue: self.init(.other, reason, error.message)
        default: return nil
        }
    }
}
