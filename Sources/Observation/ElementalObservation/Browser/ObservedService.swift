import ElementalWire

/// A service in a model's list.
@dynamicMemberLookup
public struct ObservedService: Sendable, Hashable, Identifiable {
    /// What identifies a service as long as it is listed, however its address changes.
    public struct ID: Sendable, Hashable {
        /// The service's name, such as `lamp`.
        public let service: String
        /// The instance name, such as "Desk lamp".
        public let name: String
    }

    /// What a client has to do to use a service, as far as the service says: anyone on the network can publish that, and
    /// only a connection proves it. More may be added; give a `switch` a default.
    public enum State: Sendable, Hashable {
        /// It serves everybody.
        case open
        /// It has this client's own identity, as the programs of one user have, and needs no pairing.
        case own
        /// It is paired with this client, in this role; `nil` for a role of a newer version.
        case paired(Role?)
        /// Everybody may read; to set elements, a client has to be paired.
        case needsPairingToControl
        /// A client has to be paired.
        case needsPairing
        /// It is paired with this client, and says that it has another key: it was set up anew, or is another one under its
        /// name. It is not connected to.
        case keyChanged
        /// It is paired with this client, and says that it offers no encryption. It is not connected to.
        case keyMissing
        /// It requires something that this version does not know.
        case unknown
    }

    /// What the browser found.
    public let discovered: DiscoveredService
    /// What a client has to do to use it.
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

    /// What identifies the service in a list.
    public var id: ID { ID(service: discovered.service, name: discovered.name) }

    /// The members of what the browser found, such as `name`.
    public subscript<Value>(dynamicMember keyPath: KeyPath<DiscoveredService, Value>) -> Value {
        discovered[keyPath: keyPath]
    }
}

extension ObservedService: Comparable {
    /// By name as a person sorts: regardless of case, and with numbers in order of size; then by the service's name.
    public static func < (a: ObservedService, b: ObservedService) -> Bool {
        SortingPlace(name: a.name, service: a.service) < SortingPlace(name: b.name, service: b.service)
    }
}

/// Where a service is in a list: by name as people sort, then by the name as it is, and by the service's name. No two
/// services have the same.
struct SortingPlace: Comparable {
    private enum Part: Comparable {
        // Numbers come before texts. One that is too large for an integer is compared by its digits.
        case number(digitCount: Int, String)
        case text(String)
    }

    /// The name as people sort it: "rover 2" before "Rover 10".
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
