import ArgumentParser
import Elemental
import ElementalFollowing
import ElementalSecurity
import ElementalWire
import Support

struct PairCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a service, by the code that it shows.",
        discussion: """
            The service shows six digits, or a long secret, while a window for pairing is open. Enter them here: at the \
            prompt, which does not show them, or on standard input. Each stores the other's key, and from then on \
            connections are encrypted. A wrong code counts at the service, which closes the window after five. To let a \
            service show one: elemental open-pairing.

              $ elemental pair robot
              $ elemental pair 'robot/Rover' --role observe
              $ echo 483291 | elemental pair 192.168.1.7:5000 --json
            """)

    @Argument(
        help: "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT.", transform: Target.init(parsing:))
    var target: Target

    @Option(
        help: ArgumentHelp(
            "The code, six digits, or @FILE with a code or long secret in it.",
            discussion: """
                It is safer at the prompt or on standard input: other users of this machine can see command lines, and \
                the shell remembers them.
                """, valueName: "code"))
    var code: String?

    @Option(help: "The role to request: \(Role.grantedNames).")
    var role = Role.control

    @Option(
        help: ArgumentHelp(
            "The name of this client, by which the service lists it (default: elemental@HOST and its fingerprint's beginning).",
            valueName: "name"))
    var name: String?

    @Flag(help: .hidden)
    var open = false

    @OptionGroup(visibility: .hidden) var window: PairingWindowOptions
    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    private static let longestName = 64

    func validate() throws {
        if open { OldSpelling.note("elemental pair --open", now: "elemental open-pairing") }
        // Not checked by the parser, whose message would show the code.
        if let code, !CodeArgument.isValid(code) {
            throw ValidationError("--code takes six digits or @FILE; enter a long secret on standard input")
        }
        guard !open || (code == nil && name == nil) else {
            throw ValidationError("--code and --name are for the client; elemental open-pairing shows the code")
        }
        guard open || (window.time == nil && !window.secret) else {
            throw ValidationError("--for and --secret are for elemental open-pairing")
        }
        guard let name, !(1...Self.longestName).contains(name.utf8.count) else { return }
        throw ValidationError("--name takes a name of 1 to \(Self.longestName) bytes, not of \(name.utf8.count)")
    }

    func perform(_ console: Console) async throws {
        if open {
            var opening = OpenPairingCommand()
            opening.target = target
            opening.role = role
            opening.window = window
            opening.state = state
            opening.output = output
            return try await opening.perform(console)
        }
        try await Interruption.run(console, .task) { [target, code, role, name, state, output] in
            let given = if let code { try await CodeArgument.text(code, within: output.limit) } else { String?.none }
            let entry = SecretEntry(given: given, console: console)
            let place = try await ServicePlace.find(target, state, output)
            let advice = PairingAdvice(place: place, access: ClientAccess(pairOptions: state.argument))
            let state = try await state.open()
            let options = ConnectOptions(
                timeout: output.limit, security: .automatic(identity: state.identity, store: state.trust),
                logger: output.logger)
            var failure: CommandFailure?
            do throws(ElementalError) {
                let service = try await place.pair(
                    as: name ?? ClientName.pairing(state.identity.fingerprint), role: role, options: options
                ) { request in
                    do throws(CommandFailure) {
                        return try await entry.secret(for: request)
                    } catch {
                        failure = error
                        return nil
                    }
                }
                await console.emit(.paired(service, wanted: role))
            } catch {
                throw failure ?? advice.explainPairing(error)
            }
        }
    }
}

extension ConsoleEvent where Self == Notice {
    /// A service and this user are paired.
    static func paired(_ service: TrustedService, wanted: Role) -> Notice {
        let role = service.role ?? .observe
        let less = role < wanted ? ", the maximum that the service offers" : ""
        return Notice(
            "paired",
            JSONText.members(service.service, service.instance) + [
                ("fingerprint", .string("\(service.fingerprint)")), ("role", .string(role.rawValue)),
            ], isResult: true, "paired with \(service.instance) (\(service.service)), as \(role.rawValue)\(less)",
            "  its fingerprint: \(service.fingerprint)")
    }
}

extension PairingAdvice {
    fileprivate func explainPairing(_ error: ElementalError) -> CommandFailure {
        switch error.code {
        case .wrongCode:
            CommandFailure(
                "wrongCode",
                "\(error.message); check the code and type: \(command); after five wrong ones the service stops "
                    + "accepting it")
        case .nameTaken:
            CommandFailure(
                "nameTaken",
                "\(error.message); the code is used up, so the service has to show a new one\(opening); then type here: "
                    + command(as: "OTHER NAME"))
        case .pairingClosed: CommandFailure("pairingClosed", error.message + opening)
        default: explain(error) ?? CommandFailure(error)
        }
    }

    /// The command that opens a window at the service; empty if the name of the service is not known.
    private var opening: String {
        guard case .found = place else { return "" }
        return "; type there: elemental open-pairing \(place.target.shellArgument)"
    }
}
