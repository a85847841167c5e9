import ArgumentParser
import Elemental
import ElementalSecurity
import ElementalWire

struct ClientSecurityOptions: ParsableArguments {
    @Option(
        name: .customLong("security"),
        help: ArgumentHelp(
            """
            paired: only to services that are paired or this user's own; open: without encryption, even to paired ones \
            (default: encrypted to paired services, without encryption to others).
            """))
    var policy: ClientPolicy?

    @Option(
        help: ArgumentHelp(
            "The most that an encrypted connection may do: \(Role.grantedNames) (default: control; for a bridge, the dashboard and metrics observe, with --control control).",
            discussion: "The service grants less to a client that was paired for less.", valueName: "role"))
    var role: Role?

    @Option(name: .customLong("state"), help: StateOptions.help)
    private var directory: String?

    var state: StateOptions {
        get { StateOptions(of: directory) }
        set { directory = newValue.state }
    }

    /// Reads identity and trusted services, if there are any: connecting makes no identity.
    ///
    /// - Parameter makesIdentity: whether to make one where there is none, for a program that can be paired while it runs.
    func load(for deputy: Deputy? = nil, makesIdentity: Bool = false) async throws -> ClientAccess {
        let state = deputy.map { self.state.below($0.name) } ?? self.state
        var access = ClientAccess(stateOptions: state.argument, aliases: self.state, isUser: deputy == nil)
        func noteIdentity(_ identity: Fingerprint?) {
            access.pairOptions = (deputy?.pairOptions(identity) ?? "") + state.argument
        }
        noteIdentity(nil)
        if policy == .open {
            access.security = .open
        } else if let existing = try await makesIdentity ? state.openForDeputy() : state.openForConnecting() {
            access.paired = existing
            noteIdentity(existing.identity.fingerprint)
            access.security =
                policy == .paired
                ? .required(identity: existing.identity, store: existing.trust)
                : .automatic(identity: existing.identity, store: existing.trust)
        } else if policy == .paired {
            throw CommandFailure(
                "notPaired",
                "nothing is paired with this \(deputy?.name ?? "user") yet; pair first: elemental pair "
                    + "TARGET\(access.pairOptions)")
        } else {
            // Another command may pair while this one runs.
            access.security = .automatic { try state.existing().map { ($0.identity, $0.trust) } }
        }
        access.security.role = role ?? deputy?.role ?? access.security.role
        return access
    }
}

enum ClientPolicy: String, ExpressibleByArgument, CaseIterable, Sendable {
    case open, paired
}

/// How a command connects, and what it takes to pair it.
struct ClientAccess: Sendable {
    var security = ClientSecurity.automatic
    /// What `elemental pair TARGET` needs after it, with a blank before it.
    var pairOptions = ""
    /// What `elemental trust` needs after it to mean this client's identity, with a blank before it.
    var stateOptions = ""
    /// Where the aliases of the user are, who typed the targets; `nil` for none.
    var aliases: StateOptions?
    /// The commands that forget a service which has another key than the paired one.
    var keyRemedy: String {
        "on this dashboard's computer: elemental trust list\(stateOptions), then elemental trust revoke "
            + "NAME\(stateOptions)"
    }
    /// Whether the identity is this user's, which services of the user take without a pairing.
    var isUser = true
    /// The identity and what is paired with it; `nil` if it does not count.
    var paired: SecurityState?
}

/// A program that passes on what others want, with an identity of its own, so that what it may do is granted to it alone.
struct Deputy: Sendable {
    let name: String
    /// What it asks for, unless the command line says otherwise.
    let role: Role

    fileprivate func pairOptions(_ identity: Fingerprint?) -> String {
        " --role \(role.rawValue) --name \(ClientName.pairing(of: name, identity).shellArgument)"
    }
}

/// On the command line a role is one that can be granted.
extension Role: ExpressibleByArgument {
    public static var allValueStrings: [String] { granted.map(\.rawValue) }

    public init?(argument: String) {
        guard let role = Role(rawValue: argument), Role.granted.contains(role) else { return nil }
        self = role
    }

    static var grantedNames: String { allValueStrings.joined(separator: ", ") }
}
