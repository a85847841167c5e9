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
            "The role to request on an encrypted connection: \(Role.grantedNames) (default: control; for a bridge, the dashboard and metrics observe, with --control control).",
            discussion: "The service grants less to a client that was paired for less.", valueName: "role"))
    var role: Role?

    @Option(name: .customLong("state"), help: StateOptions.help)
    private var directory: String?

    var state: StateOptions {
        get { StateOptions(of: directory) }
        set { directory = newValue.state }
    }

    /// Reads identity and trusted services, if there are any. Connecting creates no identity.
    ///
    /// - Parameter makesIdentity: whether to create one if there is none, for a program that can be paired while it runs.
    func load(for programIdentity: ProgramIdentity? = nil, makesIdentity: Bool = false) async throws -> ClientAccess {
        let state = programIdentity.map { self.state.below($0.name) } ?? self.state
        var access = ClientAccess(stateOptions: state.argument, aliases: self.state, isUser: programIdentity == nil)
        func noteIdentity(_ identity: Fingerprint?) {
            access.pairOptions = (programIdentity?.pairOptions(identity) ?? "") + state.argument
        }
        noteIdentity(nil)
        if policy == .open {
            access.security = .open
        } else if let existing = try await makesIdentity ? state.openOrCreateForProgram() : state.openForConnecting() {
            access.paired = existing
            noteIdentity(existing.identity.fingerprint)
            access.security =
                policy == .paired
                ? .required(identity: existing.identity, store: existing.trust)
                : .automatic(identity: existing.identity, store: existing.trust)
        } else if policy == .paired {
            throw CommandFailure(
                "notPaired",
                "nothing is paired with this \(programIdentity?.name ?? "user") yet; pair first: elemental pair "
                    + "TARGET\(access.pairOptions)")
        } else {
            // Another command may pair while this one runs.
            access.security = .automatic { try state.existing().map { ($0.identity, $0.trust) } }
        }
        access.security.role = role ?? programIdentity?.role ?? access.security.role
        return access
    }
}

enum ClientPolicy: String, ExpressibleByArgument, CaseIterable, Sendable {
    case open, paired
}

/// How a command connects, and the options of the commands that pair it.
struct ClientAccess: Sendable {
    var security = ClientSecurity.automatic
    /// The options to type after `elemental pair TARGET`, with a blank before them.
    var pairOptions = ""
    /// The options to type after `elemental trust`, so that it uses this client's identity, with a blank before them.
    var stateOptions = ""
    /// The state directory with the aliases of the user, who typed the targets; `nil` for none.
    var aliases: StateOptions?
    /// The commands that forget a service which has another key than the paired one.
    var keyRemedy: String {
        "on this dashboard's computer: elemental trust list\(stateOptions), then elemental trust revoke "
            + "NAME\(stateOptions)"
    }
    /// Whether the identity is this user's, which the user's own services accept without a pairing.
    var isUser = true
    /// The identity and its paired services; `nil` if it is not used.
    var paired: SecurityState?
}

/// A program that acts for others, such as a bridge. It has an identity of its own, so that rights are granted to it alone.
struct ProgramIdentity: Sendable {
    let name: String
    /// The role that it requests, unless the command line gives another.
    let role: Role

    fileprivate func pairOptions(_ identity: Fingerprint?) -> String {
        " --role \(role.rawValue) --name \(ClientName.pairing(of: name, identity).shellArgument)"
    }
}

/// On the command line a role is one that can be granted.
extension Role: ExpressibleByArgument {
    /// The names of the roles that can be granted.
    public static var allValueStrings: [String] { granted.map(\.rawValue) }

    /// Parses the name of a role that can be granted.
    public init?(argument: String) {
        guard let role = Role(rawValue: argument), Role.granted.contains(role) else { return nil }
        self = role
    }

    static var grantedNames: String { allValueStrings.joined(separator: ", ") }
}
