import ArgumentParser
import Elemental
import ElementalSecurity
import Support
import WebServer

/// Who reaches what a command serves: `--lan` and `--listen`.
struct ListeningOptions: ParsableArguments {
    @Flag(help: "Serve the network, not this machine alone.")
    var lan = false

    @Option(
        help: ArgumentHelp("Serve at this address of this machine alone (default: loopback).", valueName: "address"))
    var listen: String?

    /// An old spelling of `--listen`.
    @Option(name: .customLong("address"), help: .hidden)
    var oldAddress: String?

    func validate() throws {
        if oldAddress != nil { OldSpelling.note("--address", now: "--listen, or --lan for all addresses") }
        guard let address = listen ?? oldAddress else { return }
        if lan { throw ValidationError("--lan serves all addresses, --listen one: give one of them") }
        guard WebServerOptions.isHost(address) else {
            throw ValidationError("--listen takes an address of this machine, not '\(address.excerpt)'")
        }
    }

    /// The address to listen on; `nil` for loopback.
    var address: String? { lan ? "0.0.0.0" : listen ?? oldAddress }

    var text: String { lan ? "--lan" : "--listen \(address ?? "")" }

    /// Whether only this machine's programs reach it.
    var isLoopback: Bool { address.map { $0 == "localhost" || ComparableHost($0).isLoopback } ?? true }

    func apply(to options: inout WebServerOptions) {
        if let address { options.host = address }
        options.acceptsOwnAddresses = address == "0.0.0.0" || address == "::"
    }
}
