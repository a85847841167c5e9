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
    private let prints: Bool
    private let nothingSet: NothingSetReport
    private let state = Locked(State())

    init(_ console: Console, _ options: OSCBridgeOptions, prints: Bool) {
        self.console = console
        nothingSet = NothingSetReport(console)
        self.options = options
        self.prints = prints
    }

    /// Notes what happens on the bridge. It does not wait.
    func note(_ event: OSCBridgeEvent) {
        switch event {
        case .listening(let port, let queryPort):
            console.offer(OSCListeningEvent(port: port, queryPort: queryPort, options: options))
        case .failedToListen(let reason, let delay): console.offer(OSCNoticeEvent.notListening(reason, delay))
        case .announced(let name): announce(name, reason: nil)
        case .notAnnounced(let reason): announce(nil, reason: reason)
        case .surface(let name):
            let isNews = state.withLock { $0.surfaces.count < Self.most && $0.surfaces.insert(name).inserted }
            if isNews { console.offer(OSCNoticeEvent.surface(name)) }
        case .invalid(let surface, let reason): console.offer(OSCNoticeEvent.invalid(surface, reason))
        case .unknownAddress(let surface, let address):
            console.offer(OSCNoticeEvent.unknownAddress(surface, address))
        case .shown(let service, let name, let prefix):
            console.offer(OfService(ServiceKey(service: service, name: name), OSCShownEvent(prefix: prefix)))
        case .overloaded(let reason): console.offer(OSCNoticeEvent.overloaded(reason))
        case .toSurfaces(let place, let element, let value):
            if prints { offer(.value(element, value, .toSurfaces), place) }
        case .toDevice(let place, let element, let value):
            if prints { offer(.value(element, value, .toDevice), place) }
        case .notPassed(let place, let element, let direction, let reason):
            offer(.notPassed(element, direction, reason), place)
        case .dropped(let place, let element, let direction): offer(.dropped(element, direction), place)
        }
    }

    private func offer(_ event: OSCValueEvent.Kind, _ place: OSCBridgeEvent.Place) {
        console.offer(
            OfService(
                ServiceKey(service: place.service, name: place.name), OSCValueEvent(address: place.address, kind: event)
            ))
    }

    /// Both types are announced under one name, which is told once.
    private func announce(_ name: String?, reason: String?) {
        let isNews = state.withLock { state in
            defer { state.announcement = name ?? reason }
            return state.announcement != name ?? reason
        }
        if isNews { console.offer(OSCNoticeEvent.announced(name, reason)) }
    }

    /// Says what to do where a service lets the bridge set nothing, though it should.
    func note(_ event: FollowerEvent, _ followed: FollowedServices) {
        if options.setsElements { nothingSet.note(event, followed) }
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
    case announced(String?, String?)
    case surface(String)
    case invalid(String, String)
    case unknownAddress(String, String)
    case overloaded(String)
    case notListening(String, Duration)

    var isResult: Bool { false }

    var lines: [String] {
        switch self {
        case .announced(let name?, _): ["announced as '\(name)'"]
        case .announced(nil, let reason): ["not announced: \(reason ?? "unknown"); trying again"]
        case .surface(let surface): ["\(surface) sends OSC"]
        case .invalid(let surface, let reason): ["\(surface) sent what is no OSC: \(reason)"]
        case .unknownAddress(let surface, let address): ["\(surface): there is no element at \(address.excerpt)"]
        case .overloaded(let reason): [reason]
        case .notListening(let reason, let delay): ["OSC is not heard: \(reason); next attempt in \(delay)"]
        }
    }

    var json: JSONText {
        switch self {
        case .announced(let name, let reason):
            .event("announced", [("name", .optional(name)), ("reason", .optional(reason))])
        case .surface(let surface): .event("surface", [("surface", .string(surface))])
        case .invalid(let surface, let reason):
            .event("invalid", [("surface", .string(surface)), ("reason", .string(reason))])
        case .unknownAddress(let surface, let address):
            .event("unknownAddress", [("surface", .string(surface)), ("address", .string(address))])
        case .overloaded(let reason): .event("overloaded", [("reason", .string(reason))])
        case .notListening(let reason, let delay):
            .event("listenFailed", [("reason", .string(reason)), ("retryIn", .seconds(delay))])
        }
    }
}

/// A service's elements have OSC addresses.
struct OSCShownEvent: ConsoleEvent {
    let prefix: String

    var isResult: Bool { false }
    var lines: [String] { ["its elements are at \(prefix)…"] }
    var json: JSONText { .event("shown", [("prefix", .string(prefix))]) }
}

/// What happened to a value on a bridge to OSC.
struct OSCValueEvent: ConsoleEvent {
    enum Kind: Sendable {
        case value(ElementDefinition, ElementValue, OSCBridgeEvent.Direction)
        case notPassed(ElementDefinition, OSCBridgeEvent.Direction, String)
        case dropped(ElementDefinition, OSCBridgeEvent.Direction)
    }

    let address: String
    let kind: Kind

    var isResult: Bool { if case .value = kind { true } else { false } }

    var lines: [String] {
        switch kind {
        case .value(let element, let value, .toSurfaces): ["\(element.line(value))  to the surfaces"]
        case .value(let element, let value, .toDevice): ["\(element.line(value))  from a surface"]
        case .notPassed(let element, .toSurfaces, let reason):
            ["'\(element.name)' does not reach the surfaces: \(reason)"]
        case .notPassed(let element, .toDevice, let reason): ["'\(element.name)' was not set: \(reason)"]
        case .dropped(let element, .toSurfaces):
            ["values of '\(element.name)' arrive faster than they can be sent, and some are dropped"]
        case .dropped(let element, .toDevice):
            ["values for '\(element.name)' arrive faster than the service takes them, and some are dropped"]
        }
    }

    var json: JSONText {
        switch kind {
        case .value(let element, let value, let direction):
            .event(direction.rawValue, members(element) + [("value", value.json)])
        case .notPassed(let element, let direction, let reason):
            .event(
                "notPassed",
                members(element) + [("direction", .string(direction.rawValue)), ("reason", .string(reason))])
        case .dropped(let element, let direction):
            .event("dropped", members(element) + [("direction", .string(direction.rawValue))])
        }
    }

    private func members(_ element: ElementDefinition) -> JSONText.Members {
        [("element", .string(element.name)), ("address", .string(address))]
    }
}
