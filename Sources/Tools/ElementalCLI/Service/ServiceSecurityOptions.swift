import ArgumentParser
import Elemental
import ElementalSecurity
import ElementalWire
import Support

extension SecurityPolicy: ExpressibleByArgument {}

/// Who may control the services of a command, and the identity of those services.
struct ServiceSecurityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Who may control the service: open: every client, also older programs; paired-to-control: paired clients, while \
            others only read; paired: paired clients, and others are refused (default: paired-to-control, or open where it \
            listens on a loopback address alone).
            """, valueName: "policy"))
    var security: SecurityPolicy?

    @Option(name: .customLong("state"), help: StateOptions.help)
    private var directory: String?

    var state: StateOptions { StateOptions(of: directory) }

    private static let maximumNameCount = 5

    /// Reads identity and trust if the policy needs them. Prints the policy if it is the default, and the paired
    /// clients that an open service excludes.
    ///
    /// - Parameters:
    ///   - address: where it listens; `nil` for all addresses.
    ///   - isQuiet: whether to print nothing.
    func prepare(
        _ service: String, listeningOn address: String?, isQuiet: Bool = false, _ console: Console
    ) async throws -> HostSecurity {
        let isLoopback = address.map { ComparableHost($0).isLoopback } ?? false
        let policy = security ?? (isLoopback ? .open : .pairedToControl)
        guard policy != .open else {
            if isQuiet { return HostSecurity(configuration: .open) }
            if security == nil {
                await console.talk(
                    "\(service) is open: every program on this machine may control it, and others do not reach it at "
                        + "\(address ?? "all")")
            } else {
                await warnOfPairedClients(service, console)
            }
            return HostSecurity(configuration: .open)
        }
        let state: SecurityState
        do {
            state = try await self.state.open()
        } catch let error as SecurityError where error.code == .noStateDirectory && security == nil {
            throw SecurityError(error.code, "\(error.message); or let every client control it: --security open")
        }
        if security == nil {
            await console.talk(
                "\(service) is paired-to-control: clients that are not paired may only read, and older programs cannot pair; "
                    + "--security open lets every client control it")
        }
        let security = HostSecurity(
            configuration: policy == .paired
                ? .paired(identity: state.identity, store: state.trust)
                : .pairedToControl(identity: state.identity, store: state.trust),
            invitation: state.isNew ? .window : .advice, state: self.state.state, trust: state.trust)
        return try await security.inviting(to: service)
    }

    /// Paired clients connect only with encryption, and an open service does not encrypt. A store that cannot be read
    /// is ignored, because an open service does not need it.
    private func warnOfPairedClients(_ service: String, _ console: Console) async {
        guard let state = try? await state.openExisting(),
            let peers = try? await Blocking.run({ try state.trust.read() })
        else { return }
        let names = peers.clients.filter { $0.services.contains(service) }.map(\.name).sorted()
        guard !names.isEmpty else { return }
        let others = names.count - Self.maximumNameCount
        let list = quotedList(Array(names.prefix(Self.maximumNameCount)), "and")
        await console.talk(
            "\(service) is open, and open services do not encrypt, so its paired clients refuse to use it: "
                + list + (others > 0 ? ", and \(others) more" : ""))
    }
}

/// How a service of this process admits clients.
struct HostSecurity: Sendable {
    /// How the first client is paired.
    enum Invitation: Sendable {
        /// A client is paired already, or none has to be.
        case none
        /// A pairing window opens by itself.
        case window
        /// The command prints how to open one.
        case advice
    }

    let configuration: ServiceSecurity
    var invitation = Invitation.none
    /// The state directory, if the user named one.
    var state: String?
    /// The paired clients; `nil` if clients do not have to be paired.
    fileprivate var trust: FileTrustStore?

    /// Returns the security of a service, without an invitation if a client is already paired with it.
    func inviting(to service: String) async throws -> HostSecurity {
        guard let trust, case .advice = invitation else { return self }
        var security = self
        let peers = try await Blocking.run { try trust.read() }
        if peers.clients.contains(where: { $0.services.contains(service) }) { security.invitation = .none }
        return security
    }
}
