import Elemental

extension DiscoveredService {
    /// What a client needs, as far as the service says; `nil` if it needs nothing.
    var requirement: String? {
        let need =
            switch security {
            case .open: ""
            case .pairedToControl: "needs pairing to control"
            case .paired: "needs pairing"
            case nil: "unknown security policy"
            }
        return need.isEmpty ? nil : isPairing ? need + ", pairing now" : need
    }

    /// The same for programs.
    var securityMembers: JSONText.Members {
        [("security", .optional(security?.rawValue)), ("pairing", .bool(isPairing))]
    }
}
