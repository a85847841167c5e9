/// Which clients a service admits, and what those without pairing may do.
public enum SecurityPolicy: String, Sendable, Hashable, CaseIterable {
    /// Every client may do everything, without encryption.
    case open
    /// Paired clients may do what their role permits; others may only read.
    case pairedToControl = "paired-to-control"
    /// Only paired clients are admitted, and may do what their role permits.
    case paired

    /// The policy as the TXT entry `sec` states it: 0 for ``open``, 1 for ``pairedToControl``, 2 for ``paired``.
    public var code: UInt8 {
        switch self {
        case .open: 0
        case .pairedToControl: 1
        case .paired: 2
        }
    }

    /// The policy of that ``code``; `nil` if there is none.
    public init?(code: UInt8) {
        switch code {
        case SecurityPolicy.open.code: self = .open
        case SecurityPolicy.pairedToControl.code: self = .pairedToControl
        case SecurityPolicy.paired.code: self = .paired
        default: return nil
        }
    }

    /// Whether clients of that role are admitted.
    package func admits(_ role: Role) -> Bool { self != .paired || role > .plain }

    /// What a client of that role may do with the element: an empty set if it gets neither the element's catalogue
    /// entry nor its values.
    ///
    /// - Parameter role: the client's role, which this policy admits.
    package func access(of role: Role, to element: ElementDefinition) -> Access {
        if self == .open { return element.access }
        guard admits(role), role >= element.readers else { return [] }
        // A client that is not paired may only read, whatever the element's roles are.
        let mayWrite = role > .plain && role >= element.writers
        return mayWrite ? element.access : element.access.intersection(.read)
    }
}
