import ElementalWire

/// A service in a model's list.
@dynamicMemberLookup
public struct ObservedService: Sendable, Hashable, Identifiable {
    /// Identifies a service while it is listed, even if its address changes.
    public struct ID: Sendable, Hashable {
        /// The service's name, such as `lamp`.
        public let service: String
        /// The instance name, such as "Desk lamp".
        public let name: String
    }

    /// What a client has to do to use a service, according to the service's announcement. Anyone on the network can
    /// publish one, and only a connection proves it. Cases may be added; give a `switch` a default.
    public enum State: Sendable, Hashable {
        /// It serves every client.
        case open
        /// It has this client's own identity, as other programs of the same user do, and needs no pairing.
        case own
        /// It is paired with this client, in this role; `nil` for a role of a newer version.
        case paired(Role?)
        /// Every client can read; to set elements, a client has to be paired.
        case needsPairingToControl
        /// A client has to be paired.
        case needsPairing
        /// It is paired with this client, but announces another key: it was set up again, or another service has its
        /// name. Connecting fails.
        case keyChanged
        /// It is paired with this client, but announces no encryption. Connecting fails.
        case keyMissing
        /// It requires something that this version does not support.
        case unknown
    }

    /// The discovered service.
    public let discovered: DiscoveredService
    /// What a client has to do to use the service.
    public let state: State

    init(_ discovered: DiscoveredService, _ standing: ServiceStanding) {
        self.discovered = discovered
        state =
            switch standing {
            case .own: .own
            case .paired(let role): .paired(role)
            case .keyChanged: .keyChanged
            case .keyMissing: .keyMissing
            case .none:
                switch discovered.security {
                case .open: .open
                case .pairedToControl: .needsPairingToControl
                case .paired: .needsPairing
                case nil: .unknown
                }
            }
    }

    /// The service's identity in a list.
    public var id: ID { ID(service: discovered.service, name: discovered.name) }

    /// Returns a member of the discovered service, such as `name`.
    public subscript<Value>(dynamicMember keyPath: KeyPath<DiscoveredService, Value>) -> Value {
        discovered[keyPath: keyPath]
    }
}

extension ObservedService: Comparable {
    /// Orders by name, ignoring case and with numbers by size, then by the service's name.
    public static func < (a: ObservedService, b: ObservedService) -> Bool {
        SortingPlace(name: a.name, service: a.service) < SortingPlace(name: b.name, service: b.service)
    }
}

/// The position of a service in a list: by natural order of the name, then by the exact name, then by the service's
/// name. It is unique to a service.
struct SortingPlace: Comparable {
    private enum Part: Comparable {
        // Numbers come before texts. They are compared by their digits, since they may be too large for an integer.
        case number(digitCount: Int, String)
        case text(String)
    }

    /// The name in natural order: "rover 2" before "Rover 10".
    private var parts: [Part] = []
    private let name: String
    private let service: String

    init(name: String, service: String) {
        self.name = name
        self.service = service
        var rest = name.lowercased()[...]
        while let first = rest.first {
            let isNumber = Self.isDigit(first)
            let part = rest.prefix { Self.isDigit($0) == isNumber }
            rest = rest.dropFirst(part.count)
            let digits = part.drop { $0 == "0" }
            parts.append(isNumber ? .number(digitCount: digits.count, String(digits)) : .text(String(part)))
        }
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

    static func < (a: SortingPlace, b: SortingPlace) -> Bool {
        a.parts == b.parts
            ? (a.name, a.service) < (b.name, b.service) : a.parts.lexicographicallyPrecedes(b.parts)
    }
}
