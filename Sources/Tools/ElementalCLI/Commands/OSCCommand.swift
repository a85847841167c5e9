import ArgumentParser
import Elemental
import ElementalFollowing
import OSCBridge
import Support

struct OSCCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "osc",
        abstract: "Show services to OSC surfaces such as TouchOSC; with --control their faders set elements.",
        discussion: """
            Bridges the TARGETs, or every service that is found, as they come and go. The element Cutoff of the instance \
            Synth is at /Synth/Cutoff; a blank becomes _, and a forbidden character ~ and two hexadecimal digits. \
            A message without arguments requests the value. Patterns, and bundles with and without time tags, are supported.

            Every sender of the last two minutes receives all values, and so does each --feedback HOST:PORT. \
            A surface that moves an element receives no values of it until it rests. OSCQuery describes the elements at \
            http://127.0.0.1:PORT/, with types, ranges, access, units and values. Both are announced by Zeroconf, as \
            _osc._udp and _oscjson._tcp; without --allow on the loopback interface only.

            OSC has neither passwords nor encryption, and the sender of a datagram can be forged: only this machine's \
            programs are accepted, unless --allow SUBNET admits others. With --control all of these set elements.

            A service for paired clients is paired with the bridge, which has an identity of its own: 'elemental pair' with \
            the options that the bridge names.

              $ elemental osc synth --control
              $ elemental osc --control --allow 192.168.1.0/24 --feedback 192.168.1.20:9000
              $ oscsend 127.0.0.1 8000 /Synth/Cutoff f 0.5
            """)

    @OptionGroup var services: ServicesOptions

    @Flag(help: "Let surfaces set elements, and request the required role from the services.")
    var control = false

    @Option(
        name: .customLong("map"),
        help: ArgumentHelp(
            "The name of an element in its address; may be given several times.", valueName: "element=name"),
        transform: ElementMapping.init(parsing:))
    var mappings: [ElementMapping] = []

    @Option(
        help: ArgumentHelp("The port of OSC (UDP) and OSCQuery (TCP); 0 lets the system choose.", valueName: "port"))
    var port = OSCBridgeOptions().port

    @Option(
        help: ArgumentHelp(
            "A surface that receives all values, whether it sends or not; may be given several times.",
            valueName: "host:port"),
        transform: { try HostPort(parsing: $0, ports: 1...65535) })
    var feedback: [HostPort] = []

    @Option(
        help: ArgumentHelp(
            "A network whose surfaces are accepted, too, such as 192.168.1.0/24; may be given several times.",
            valueName: "subnet"))
    var allow: [String] = []

    @Flag(name: .customLong("print"), help: "Print each value that is forwarded.")
    var prints = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port takes 0 to 65535, not \(port)") }
        guard feedback.count <= Self.maximumFeedbackCount else {
            throw ValidationError("at most \(Self.maximumFeedbackCount) surfaces can be given with --feedback")
        }
        for network in allow where !OSCBridgeOptions.isNetwork(network) {
            throw ValidationError(
                "--allow takes a network such as 192.168.1.0/24 or fd00::/8, not '\(network.excerpt)'")
        }
    }

    private static let maximumFeedbackCount = 32

    private var options: OSCBridgeOptions {
        var options = OSCBridgeOptions()
        options.port = port
        options.allowedNetworks = allow
        options.feedback = feedback.map { OSCBridgeOptions.Destination(host: $0.host, port: $0.port) }
        options.setsElements = control
        options.names = Dictionary(mappings.map { ($0.element, $0.name) }) { $1 }
        // This name has at most 63 bytes, as many as the host's name alone may have.
        var name = "Elemental on \(HostName.current)"
        while name.utf8.count > 63 { name.removeLast() }
        options.name = name
        return options
    }

    func perform(_ console: Console) async throws {
        let programIdentity = ProgramIdentity(name: "osc", role: control ? .control : .observe)
        try await Interruption.run(console) { [self] in
            FileDescriptors.allowMany()
            let options = options
            let values = BridgeReport(console: console, prints: prints, setsElements: control)
            let report = OSCReport(options: options, values: values)
            let bridge = try await OSCBridge(options: options, logger: output.logger) { loop in
                let followed = try await services.makeFollower(for: programIdentity, console, output) {
                    $0.connect.eventLoopGroup = loop
                }
                values.follow(followed)
                return followed.follower
            }
            bridge.onEvent { report.note($0) }
            try await bridge.run()
        }
    }
}
