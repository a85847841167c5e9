import Bridging
import Elemental
import ElementalSecurity
import ElementalWire

/// Opens a service's pairing window as its admin, and shows what a client enters: `elemental pair --open`.
struct PairOpening: Sendable {
    let target: Target
    /// The most that the client gets.
    let role: Role
    /// How long the window stays open, one of ``times``.
    let time: Duration
    let kind: PairingSecret.Kind
    let state: StateOptions
    let output: OutputOptions

    /// How long a window may be open.
    static let times = Duration.seconds(1) ... .seconds(3600)

    func run(_ console: Console) async throws {
        try await Interruption.run(console, .task) { try await open(console) }
    }

    private func open(_ console: Console) async throws {
        guard console.mayShowCodes(isResult: true) else {
            throw CommandFailure(
                "noTerminal", "a code is shown on a terminal only, or to a program that asks for it with --json")
        }
        guard let own = try await state.openExisting() else {
            throw CommandFailure(
                "notPaired",
                "there is no identity in \(try directory): be the user who runs the service, or name its state directory "
                    + "with --state")
        }
        await console.talk("with the identity in \(own.directory)")
        let options = ConnectOptions(
            timeout: output.limit, security: .required(identity: own.identity, store: own.trust), logger: output.logger)
        let place = try await ServicePlace.find(target, state, output)
        let window: OpenedPairing
        do throws(ElementalError) {
            window = try await place.openPairing(for: time, role: role, kind, options: options)
        } catch {
            guard error.code == .notAuthorised || error.code == .notPaired else { throw error }
            throw CommandFailure(
                error.code.description,
                "the identity in \(own.directory) may not open the window of '\(place.target)': the service's own identity "
                    + "may, on its host, and a client that is paired as admin; if the service's is in another directory, "
                    + "name it with --state")
        }
        await console.emit(
            PairingOpenedEvent(
                service: place.serviceName, secret: window.secret, time: window.timeLeft, role: window.role,
                command: "elemental pair \(place.remoteTarget.shellArgument)", isResult: true))
        if kind == .secret { await console.show(qrCode: window.secret.text) }
    }

    private var directory: String {
        get throws { try StateDirectory.path(explicit: state.state, environment: StateDirectory.environment) }
    }
}

extension ServicePlace {
    /// The service's name, or where it is.
    fileprivate var serviceName: String { discovered?.service ?? target }

    /// The place as another host's TARGET.
    fileprivate var remoteTarget: String {
        guard case .address(let host, let port) = self, ComparableHost(host).isLoopback else { return target }
        return "HOST:\(port)"
    }
}
