/// What a server does with a message.
enum Role: String {
    case echo, sink
}

/// A library that is compared, and how to start its two ends.
struct Contender {
    private enum Kind {
        /// One of this package's own executables.
        case peer(String, options: [String])
        /// The framework's command line, with one of the ways of receiving values, options for both ends, and options for
        /// the sender of throughput.
        case elemental(via: String, options: [String] = [], senderOptions: [String] = [])
    }

    let name: String
    var transports: [Transport] = [.tcp]
    /// Both ends are clients of an MQTT broker.
    var needsBroker = false
    private let kind: Kind

    /// The framework, which all ratios refer to.
    var isOurs: Bool {
        if case .elemental = kind { true } else { false }
    }

    func server(_ programs: Programs, _ role: Role, _ transport: Transport, port: Int = 0) throws -> Command {
        switch kind {
        case .peer(let program, let options):
            Command(
                programs.peer(program),
                ["serve", "--transport", transport.option, "--role", role.rawValue, "--port", "\(port)"]
                    + (role == .echo ? options : []) + (try programs.credentials.peerOptions(transport)))
        case .elemental(_, let options, _):
            Command(
                programs.elemental,
                ["bench", "serve", "--port", "0", "--responder", "--json"] + options
                    + (try programs.credentials.ownOptions(transport)))
        }
    }

    /// - Parameters:
    ///   - rate: round trips a second, for the framework, raw C and with a pace SwiftNIO; `nil` for one after the other.
    ///   - pace: what sends at the rate; `nil` for what watches the clock.
    func latency(
        _ programs: Programs, _ transport: Transport, port: Int, count: Int, rate: Int? = nil, pace: Pace? = nil
    ) throws -> Command {
        let pacing = (rate.map { ["--rate", "\($0)"] } ?? []) + (pace.map { ["--pace", $0.rawValue] } ?? [])
        return switch kind {
        case .peer(let program, let options):
            Command(
                programs.peer(program),
                ["latency", "--transport", transport.option, "--port", "\(port)", "--count", "\(count)"]
                    + (rate == nil ? [] : ["--warm-up", "100"]) + pacing + options
                    + (try programs.credentials.peerOptions(transport)))
        case .elemental(let via, let options, _):
            Command(
                programs.elemental,
                [
                    "bench", "latency", "127.0.0.1:\(port)", "--json", "--via", via,
                    "--transport", transport.option, "--count", "\(count)", "--size", "8",
                ] + options + pacing + (try programs.credentials.ownOptions(transport)))
        }
    }

    func throughput(
        _ programs: Programs, _ transport: Transport, port: Int, size: Int, seconds: Double
    ) throws -> Command {
        let amount = ["--transport", transport.option, "--size", "\(size)", "--seconds", "\(seconds)"]
        switch kind {
        case .peer(let program, let options):
            return Command(
                programs.peer(program),
                ["throughput", "--port", "\(port)"] + amount + options
                    + (try programs.credentials.peerOptions(transport)))
        case .elemental(_, let options, let senderOptions):
            return Command(
                programs.elemental,
                ["bench", "throughput", "127.0.0.1:\(port)", "--json"] + amount + options + senderOptions
                    + (try programs.credentials.ownOptions(transport)))
        }
    }

    /// What floods a service with ClientHellos until it is ended.
    static func hellos(_ programs: Programs, port: Int, rate: Int) throws -> Command {
        Command(
            programs.peer("raw-peer"),
            ["hellos", "--port", "\(port)", "--rate", "\(rate)", "--seconds", "600"]
                + (try programs.credentials.peerOptions(.tls)))
    }
}

extension Contender {
    static let rawName = "raw C, epoll"
    static let nioName = "SwiftNIO, bare echo"
    static let handlersName = "elemental, handlers"
    static let zeroMQName = "ZeroMQ REQ/REP"
    static let streamsName = "elemental, streams"

    static let handlers = Contender(
        name: handlersName, transports: Transport.allCases, kind: .elemental(via: "handlers"))
    /// The framework with event loops that do not sleep.
    static let lowest = Contender(
        name: "elemental, lowest latency", transports: [.tcp, .udp],
        kind: .elemental(via: "handlers", options: ["--lowest"]))

    /// What the machine does at a rate: the least that sleeping costs, and what not to sleep brings.
    static let raw = Contender(
        name: rawName, transports: [.tcp, .udp, .tls], kind: .peer("raw-peer", options: []))
    static let rawSpinning = Contender(
        name: "raw C, spinning", transports: [.tcp, .udp], kind: .peer("raw-peer", options: ["--wait", "spin"]))
    /// The framework's event loops alone.
    static let nio = Contender(
        name: nioName, transports: [.tcp, .udp, .tls], kind: .peer("nio-peer", options: []))

    /// The contenders for round trips, the framework first. SwiftNIO runs directly after it, since a virtual core may be
    /// slower for a second or two.
    static let ofRoundTrips = [
        handlers,
        nio,
        lowest,
        rawSpinning,
        Contender(name: streamsName, transports: [.tcp, .udp], kind: .elemental(via: "streams")),
        Contender(name: "elemental, task streams", transports: [.tcp, .udp], kind: .elemental(via: "task-streams")),
        raw,
        Contender(name: zeroMQName, kind: .peer("zmq-peer", options: [])),
        Contender(name: "nng pair", kind: .peer("nng-peer", options: [])),
        Contender(name: "MQTT QoS 0, mosquitto", needsBroker: true, kind: .peer("mqtt-peer", options: [])),
    ]

    static let elementalName = "elemental"
    static let zeroMQPushName = "ZeroMQ PUSH/PULL"
    static let nioThroughputName = "SwiftNIO"
    static let rawLargeName = "raw C, large writes"
    static let rawOneName = "raw C, a write a message"

    static let elemental = Contender(
        name: elementalName, transports: [.tcp, .udp, .tls], kind: .elemental(via: "handlers"))

    /// The framework with a sender that runs on the connection's event loop, as SwiftNIO's does.
    static let onLoop = Contender(
        name: "elemental, on its loop", transports: [.tcp, .tls],
        kind: .elemental(via: "handlers", senderOptions: ["--on-loop"]))

    static let rawLarge = Contender(
        name: rawLargeName, transports: [.tcp, .tls], kind: .peer("raw-peer", options: ["--write", "large"]))
    static let nioThroughput = Contender(
        name: nioThroughputName, transports: [.tcp, .tls], kind: .peer("nio-peer", options: []))

    /// The contenders for throughput from one sender to one receiver.
    static let ofThroughput = [
        elemental,
        onLoop,
        rawLarge,
        nioThroughput,
        Contender(name: rawOneName, transports: [.tcp, .udp], kind: .peer("raw-peer", options: ["--write", "one"])),
        Contender(name: zeroMQPushName, kind: .peer("zmq-peer", options: [])),
        Contender(name: "nng pair", kind: .peer("nng-peer", options: [])),
    ]
}
