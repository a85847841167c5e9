import Elemental
import ElementalFollowing
import OSCBridge
import Support

/// Reports the events of an OSC bridge, and the values that it passes on.
struct OSCReport: Sendable {
    private struct State {
        /// The name under which the bridge is announced, or the reason why it is not.
        var announcement: String?
        var surfaces: Set<String> = []
    }

    /// The maximum number of surfaces that are remembered: names come from the network.
    private static let maximumCount = 10_000

    let options: OSCBridgeOptions
    let values: BridgeReport
    private let state = Locked(State())

    func note(_ event: OSCBridgeEvent) {
        switch event {
        case .value(let value): return values.note(value)
        case .listening(let port, let queryPort): return values.console.offer(.listening(port, queryPort, options))
        case .surface(let name):
            guard state.withLock({ $0.surfaces.count < Self.maximumCount && $0.surfaces.insert(name).inserted }) else {
                return
            }
        // Both types are announced under one name, which is reported once.
        case .announced, .notAnnounced:
            let text = event.description
            let earlier = state.withLock { state in
                defer { state.announcement = text }
                return state.announcement
            }
            if earlier == text { return }
        case .failedToListen, .invalid, .unknownAddress, .shown, .overloaded: break
        }
        values.console.offer(.osc(event))
    }
}

extension ConsoleEvent where Self == Notice {
    static func osc(_ event: OSCBridgeEvent) -> Notice {
        let (name, members): (String, JSONText.Members) =
            switch event {
            case .failedToListen(let error, let delay):
                ("listenFailed", JSONText.members(error) + JSONText.delay(delay))
            case .announced(let name):
                ("announced", [("instance", .string(name))] + JSONText.members(nil, because: nil))
            case .notAnnounced(let error):
                ("announced", [("instance", .null)] + JSONText.members("\(error.code)", because: error.message))
            case .surface(let surface): ("surface", [("surface", .string(surface))])
            case .invalid(let surface, let reason):
                ("invalid", [("surface", .string(surface)), ("message", .string(reason))])
            case .unknownAddress(let surface, let address):
                ("unknownAddress", [("surface", .string(surface)), ("address", .string(address))])
            case .shown(let key, let prefix): ("shown", JSONText.members(key) + [("prefix", .string(prefix))])
            case .overloaded(let reason): ("overloaded", [("message", .string(reason))])
            case .listening, .value: ("", [])
            }
        return Notice(name, members, event.description)
    }

    static func listening(_ port: Int, _ queryPort: Int, _ options: OSCBridgeOptions) -> Notice {
        let url = "http://127.0.0.1:\(queryPort)/"
        let networks = options.allowedNetworks
        let who =
            "every program of this machine" + (networks.isEmpty ? "" : " and of \(networks.joined(separator: ", "))")
        return Notice(
            "listening",
            [
                ("port", .integer(port)), ("queryPort", .integer(queryPort)), ("url", .string(url)),
                ("control", .bool(options.setsElements)), ("allow", .array(networks.map { .string($0) })),
                (
                    "feedback",
                    .array(options.feedback.map { .string(ServicePlace.address(host: $0.host, port: $0.port).target) })
                ),
            ],
            "listening for OSC on UDP port \(port), and for OSCQuery at \(url)",
            options.setsElements
                ? "OSC has no security: \(who) controls the services"
                : "\(who) receives values and cannot set any; to allow this, give --control")
    }
}
