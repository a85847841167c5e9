import Elemental
import Support

/// Prints how clients are paired with a service of this process, and lets the first one pair.
struct PairingInvitation: Sendable {
    let service: ElementalService
    let security: HostSecurity
    let console: Console
    /// The name under which the service is published; `nil` if it is not.
    var name: String?
    var isExtended = false

    /// Invites clients once, when the service listens and has a name. If this start created the identity, and a user or
    /// a program can read the code, it opens the pairing window. Otherwise it prints how to open the window.
    mutating func extend(as name: String?) async {
        self.name = name
        guard !isExtended else { return }
        isExtended = true
        switch security.invitation {
        case .none: return
        case .window where console.mayShowCodes(isResult: false):
            // The service may have been stopped meanwhile.
            try? service.openPairing()
        case .window, .advice:
            await console.talk(
                "no client is paired with \(service.service); to pair one, type here: \(openingCommand)")
        }
    }

    func report(_ event: PairingEvent) async {
        let service = service.service
        switch event {
        case .opened(let secret, let time, let role):
            let command = "elemental pair \(target ?? "HOST:\(port)")"
            await console.emit(.pairingOpened(service, secret, for: time, role: role, command: command))
        case .openedByAdmin: await console.emit(.pairingOpenedByAdmin(service))
        case .closed: await console.emit(.pairingClosed(service, command: openingCommand))
        case .failed(let client, let error):
            await console.emit(.pairingFailed(service, client: client.name, error))
        case .paired(let client): await console.emit(.clientPaired(service, client))
        }
    }

    private var openingCommand: String {
        let state = security.state.map { " --state \($0.shellArgument)" } ?? ""
        return "elemental open-pairing \(target ?? host.withPort(port))\(state)"
    }

    private var target: String? { name.map { "\(service.service)/\($0)".shellArgument } }

    private var port: Int { service.port ?? service.configuration.port }

    /// The address at which this host reaches a service that is not published.
    private var host: String { service.configuration.address ?? "127.0.0.1" }
}
