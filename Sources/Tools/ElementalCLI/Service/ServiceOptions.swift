import ArgumentParser
import Elemental

struct ServiceOptions: ParsableArguments {
    @Option(help: "The instance's name that users see (default: the host's name).")
    var name: String?

    @Option(help: "The service's port; 0 lets the system choose.")
    var port = 0

    /// Not ``LimitOptions``, because groups within groups slow the parser down.
    @Option(name: .customLong("max-value"), help: LimitOptions.help)
    private var maximumValueByteCount = DeviceLimits().maximumValueByteCount

    var limits: DeviceLimits { DeviceLimits(maximumValueByteCount: maximumValueByteCount) }

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
        try LimitOptions.check(maximumValueByteCount)
    }

    /// Checks the service's names and TXT record by the framework's rules, which also apply to a service that only listens.
    func check(service: String, txt: [String: String] = [:]) throws {
        // Without --name, the host's name is used. It is not checked, because a wrong one is not the user's mistake.
        let service = ElementalService(
            service, displayName: name ?? service, elements: [], configuration: ServiceConfiguration(txt: txt))
        try checked { try service.checkNames() }
    }

    func apply(to configuration: inout ServiceConfiguration, _ output: OutputOptions) {
        configuration.port = port
        configuration.limits = limits
        configuration.limits.handshakeTimeout = output.limit
        configuration.logger = output.logger
    }
}

/// The options of the commands that publish services: names, addresses and security.
struct HostingOptions: ParsableArguments {
    @OptionGroup var service: ServiceOptions

    @Option(help: ArgumentHelp("The local address to listen on for clients (default: all).", valueName: "address"))
    var address: String?

    @Flag(help: "Only listen; do not publish by Zeroconf.")
    var unlisted = false

    @OptionGroup var admission: ServiceSecurityOptions

    func validate() throws {
        guard let address, address.isEmpty || address.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else { return }
        throw ValidationError(
            "--address takes an address of this machine, such as 127.0.0.1, not '\(address.excerpt)'")
    }

    /// Applies the options to a service's configuration, and prints who may control the service.
    func apply(
        to configuration: inout ServiceConfiguration, of name: String, _ output: OutputOptions, _ console: Console
    ) async throws -> HostSecurity {
        service.apply(to: &configuration, output)
        configuration.address = address
        configuration.isPublished = !unlisted
        let security = try await admission.prepare(name, listeningOn: address, console)
        configuration.security = security.configuration
        return security
    }
}
