import ArgumentParser
import Elemental
import ElementalFollowing
import ElementalSecurity
import ElementalWire

struct OpenPairingCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "open-pairing",
        abstract: "Let a service show a code, with which one client can pair.",
        discussion: """
            Opens the service's window for pairing, and shows the code here. On the client, type elemental pair and the code. \
            The service's own user can do this on its host; from elsewhere, a client that is paired as admin can.

              $ elemental open-pairing robot
              $ elemental open-pairing robot --role observe --for 60
              $ elemental open-pairing robot --secret
            """)

    @Argument(
        help: "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT.", transform: Target.init(parsing:))
    var target: Target

    @Option(help: "The maximum role of the client: \(Role.grantedNames).")
    var role = Role.control

    @OptionGroup var window: PairingWindowOptions
    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, .task) { try await open(console) }
    }

    private func open(_ console: Console) async throws {
        guard console.mayShowCodes(isResult: true) else {
            throw CommandFailure(
                "noTerminal", "a code is shown only on a terminal; for a program, give --json")
        }
        guard let own = try await state.openExisting() else {
            throw CommandFailure(
                "notPaired",
                "there is no identity in \(try directory): run this as the service's user, or name its state directory "
                    + "with --state")
        }
        await console.talk("with the identity in \(own.directory)")
        let options = ConnectOptions(
            timeout: output.limit, security: .required(identity: own.identity, store: own.trust), logger: output.logger)
        let place = try await ServicePlace.find(target, state, output)
        let kind = window.secret ? PairingSecret.Kind.secret : .code
        let opened: OpenedPairing
        do throws(ElementalError) {
            opened = try await place.openPairing(
                for: window.time?.duration ?? .seconds(300), role: role, kind, options: options)
        } catch {
            guard error.code == .notAuthorised || error.code == .notPaired else { throw error }
            throw CommandFailure(
                error.code.description,
                "the identity in \(own.directory) may not open the window of '\(place.target)': the service's own identity "
                    + "may, on its host, and a client that is paired as admin; if the service's is in another directory, "
                    + "name it with --state")
        }
        await console.emit(
            .pairingOpened(
                place.discovered?.service ?? place.target, opened.secret, for: opened.timeLeft, role: opened.role,
                command: "elemental pair \(place.remoteTarget.shellArgument)", isResult: true))
        if window.secret { await console.show(qrCode: opened.secret.text) }
    }

    private var directory: String {
        get throws { try StateDirectory.path(explicit: state.state, environment: StateDirectory.environment) }
    }
}

struct PairingWindowOptions: ParsableArguments {
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long the window is open, 1 s to an hour (default: 300 s).", valueName: "seconds"))
    var time: Seconds?

    @Flag(help: "Show a long secret, also as a QR code, instead of six digits.")
    var secret = false

    func validate() throws {
        guard let time, !(Duration.seconds(1) ... .seconds(3600)).contains(time.duration) else { return }
        throw ValidationError("--for takes 1 to 3600 seconds")
    }
}

extension ServicePlace {
    /// The place as a TARGET for another host.
    fileprivate var remoteTarget: String {
        guard case .address(let host, let port) = self, ComparableHost(host).isLoopback else { return target }
        return "HOST:\(port)"
    }
}
