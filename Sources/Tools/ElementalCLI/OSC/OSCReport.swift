import Elemental
import ElementalFollowing
import OSCBridge
import Support

/// Tells what a bridge to OSC does.
final class OSCReport: Sendable {
    private struct State {
        /// Under what name the bridge is announced, or why it is not.
        var announcement: String?
        /// Surfaces that were told, the newest ones.
        var surfaces: Set<String> = []
    }

    /// No more services and surfaces are remembered: names come from the network.
    private static let most = 10_000

    private let console: Console
    private let options: OSCBridgeOptions
    private let values: BridgeReport
    private let state = Locked(State())

    init(_ console: Console, _ options: OSCBridgeOptions, prints: Bool) {
        self.console = console
        values = BridgeReport(console, .surfaces, prints: prints, setsElements: options.setsElements)
        self.options = options
    }

    /// Notes what happens on the bridge. It does not wait.
    func note(_ event: OSCBridgeEvent) {
        switch event {
        case .listening(let port, let queryPort):
            console.offer(OSCListeningEvent(port: port, queryPort: queryPort, options: options))
        case .failedToListen(let error, let delay): console.offer(OSCNoticeEvent.notListening(error, delay))
        case .announced(let name): announce(name, nil)
        case .notAnnounced(let error): announce(nil, error)
        case .surface(let name):
            let isNews = state.withLock { $0.surfaces.count < Self.most && $0.surfaces.insert(name).inserted }
            if isNews { console.offer(OSCNoticeEvent.surface(name)) }
        case .invalid(let surface, let reason): console.offer(OSCNoticeEvent.invalid(surface, reason))
        case .unknownAddress(let surface, let address):
            console.offer(OSCNoticeEvent.unknownAddress(surface, address))
        case .shown(let service, let name, let prefix):
            console.offer(OSCShownEvent(key: ServiceKey(service: service, name: name), prefix: prefix))
        case .overloaded(let reason): console.offer(OSCNoticeEvent.overloaded(reason))
        case .toSurfaces(let place, let element, let value): note(.passed(value), element, isInbound: false, place)
        case .toDevice(let place, let element, let value): note(.passed(value), element, isInbound: true, place)
        case .notPassed(let place, let element, let direction, let error):
            note(.notPassed(error), element, isInbound: direction == .toDevice, place)
        case .dropped(let place, let element, let direction):
            note(.dropped, element, isInbound: direction == .toDevice, place)
        }
    }

    private func note(
        _ outcome: BridgedValueEvent.Outcome, _ element: ElementDefinition, isInbound: Bool,
        _ place: OSCBridgeEvent.Place
    ) {
        values.note(
            outcome, element, isInbound: isInbound, of: ServiceKey(service: place.service, name: place.name),
            at: place.address)
    }

    /// Both types are announced under one name, which is told once.
    private func announce(_ name: String?, _ error: ElementalError?) {
        let text = name ?? error?.message
        let isNews = state.withLock { state in
            defer { state.announcement = text }
            return state.announcement != text
        }
        if isNews { console.offer(OSCNoticeEvent.announced(name, error)) }
    }

    /// Says what to do where a service lets the bridge set nothing, though it should.
    func note(_ event: FollowerEvent, _ followed: FollowedServices) {
        values.note(event, followed.access) { followed.sessions.place(of: $0) }
    }
}

/// A bridge hears OSC, and this is who controls the services thereby.
struct OSCListeningEvent: ConsoleEvent {
    let port: Int
    let queryPort: Int
    let options: OSCBridgeOptions

    var isResult: Bool { false }

    private var url: String { "http://127.0.0.1:\(queryPort)/" }

    private var who: String {
        options.allowedNetworks.isEmpty
            ? "every program of this machine"
            : "every program of this machine and of \(options.allowedNetworks.joined(separator: ", "))"
    }

    var lines: [String] {
        [
            "listening for OSC on UDP port \(port), and for OSCQuery at \(url)",
            options.setsElements
                ? "OSC knows no security: \(who) controls the services"
                : "\(who) is told what the services say and sets nothing; --control would let it",
        ]
    }

    var json: JSONText {
        .event(
            "listening",
            [
                ("port", .integer(port)), ("queryPort", .integer(queryPort)), ("url", .string(url)),
                ("control", .bool(options.setsElements)),
                ("allow", .array(options.allowedNetworks.map { .string($0) })),
                ("feedback", .array(options.feedback.map { .string(HostPort(host: $0.host, port: $0.port).text) })),
            ])
    }
}

extension HostPort {
    /// As it is typed.
    fileprivate var text: String { ServicePlace.address(host: host, port: port).target }
}

/// Something that has to do with surfaces and not with a service.
enum OSCNoticeEvent: ConsoleEvent {
    /// The name under which the bridge is announced, or why it is not.
    case announced(String?, ElementalError?)
    case surface(String)
    case invalid(String, String)
    case unknownAddress(String, String)
    case overloaded(String)
    case notListening(ElementalError, Duration)

    var isResult: Bool { false }

    var lines: [String] {
        switch self {
        case .announced(let name?, _): ["announced as '\(name)'"]
        case .announced(nil, let error): ["not announced: \(error?.message ?? "unknown"); trying again"]
        case .surface(let surface): ["\(surface) sends OSC"]
        case .invalid(let surface, let reason): ["\(surface) sent what is no OSC: \(reason)"]
        case .unknownAddress(let surface, let address): ["\(surface): there is no element at \(address.excerpt)"]
        case .overloaded(let reason): [reason]
        case .notListening(let error, let delay): ["OSC is not heard: \(error); next attempt in \(delay)"]
        }
    }

    var json: JSONText {
        switch self {
        case .announced(let name, let error):
            .event(
                "announced",
                [("instance", .optional(name))]
                    + JSONText.members(error?.code.description, because: error?.message))
        case .surface(let surface): .event("surface", [("surface", .string(surface))])
        case .invalid(let surface, let reason):
            .event("invalid", [("surface", .string(surface)), ("message", .string(reason))])
        case .unknownAddress(let surface, let address):
            .event("unknownAddress", [("surface", .string(surface)), ("address", .string(address))])
        case .overloaded(let reason): .event("overloaded", [("message", .string(reason))])
        case .notListening(let error, let delay):
            .event("listenFailed", JSONText.members(error) + JSONText.delay(delay))
        }
    }
}

/// A service's elements have OSC addresses.
struct OSCShownEvent: ConsoleEvent {
    let key: ServiceKey
    let prefix: String

    var isResult: Bool { false }
    var lines: [String] { ["\(key): its elements are at \(prefix)…"] }
    var json: JSONText { .event("shown", JSONText.members(key) + [("prefix", .string(prefix))]) }
}
