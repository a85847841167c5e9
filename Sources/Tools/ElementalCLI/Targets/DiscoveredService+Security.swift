import Elemental
import Support

extension DiscoveredService {
    /// What a client needs, as far as the service says; `nil` if it needs nothing.
    var requirement: String? {
        switch security {
        case .open: nil
        case .pairedToControl: "needs pairing to control"
        case .paired: "needs pairing"
        case nil: "unknown security policy"
        }
    }

    /// What there is to know about pairing for this user; `nil` if nothing.
    func remark(_ standing: ServiceStanding) -> String? {
        let remark: String? =
            switch standing {
            case .none: requirement
            case .own: "this user's own"
            case .paired(let role): "paired, \(role?.rawValue ?? "unknown role")"
            case .keyChanged: "KEY CHANGED, as it says"
            case .keyMissing: "paired, but says that it is open"
            }
        return remark.map { isPairing ? $0 + ", pairing now" : $0 }
    }

    /// What it says of its security, for programs.
    var securityMembers: JSONText.Members {
        [("security", .optional(security?.rawValue)), ("pairing", .bool(isPairing))]
    }
}
