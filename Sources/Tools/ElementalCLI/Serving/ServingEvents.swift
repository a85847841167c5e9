import Elemental
import ElementalFollowing
import Support

/// A web server answers.
struct ServingEvent: ConsoleEvent {
    let url: String
    /// The file with the token that is needed; `nil` if none is needed.
    var tokenFile: String?
    /// Whether the address lacks the token.
    var isTokenHidden = false
    /// What there is to know of who may read it; `nil` if nothing.
    var note: String?

    var isResult: Bool { false }

    var lines: [String] {
        let hint = isTokenHidden ? tokenFile.map { ["open \(url)#token=TOKEN with the token in \($0)"] } : nil
        return ["serving \(url)"] + (hint ?? []) + (note.map { [$0] } ?? [])
    }

    var json: JSONText {
        .event(
            "serving", [("url", .string(url)), ("tokenFile", .optional(tokenFile)), ("message", .optional(note))])
    }
}

/// The state of a followed service has changed.
struct SessionStateEvent: ConsoleEvent {
    let key: ServiceKey
    let state: String
    let reason: String?
    let message: String?
    let delay: Duration?

    /// `nil` for states of which nobody needs to know.
    ///
    /// - Parameters:
    ///   - advice: what to do where the service and this program are not paired.
    ///   - access: how this program connects.
    init?(_ key: ServiceKey, _ state: FollowedState, advice: String, _ access: ClientAccess) {
        self.key = key
        switch state {
        case .connecting: return nil
        case .connected: (self.state, reason, message, delay) = ("connected", nil, nil, nil)
        case .away(let problem, let delay):
            let offer = problem.kind == .turnedAway ? "; if it wants paired clients, type: \(advice)" : ""
            (self.state, reason, message, self.delay) = ("away", problem.code, problem.message + offer, delay)
        case .refused(let problem):
            let remedy =
                switch problem.kind {
                case .notPaired: "; type: \(advice)"
                case .identityChanged:
                    "; type: elemental trust list\(access.stateOptions), elemental trust revoke "
                        + "NAME\(access.stateOptions), and then \(advice)"
                case .noElements, .turnedAway, .unreachable: ""
                }
            (self.state, reason, message, delay) = ("refused", problem.code, problem.message + remedy, nil)
        case .gone: (self.state, reason, message, delay) = ("gone", nil, nil, nil)
        }
    }

    /// It cannot be served, for another reason than the service's.
    init(_ key: ServiceKey, refused reason: String, _ message: String) {
        self.key = key
        (state, self.reason, self.message, delay) = ("refused", reason, message, nil)
    }

    var isResult: Bool { false }

    var lines: [String] { ["\(key) is \(state)" + (message.map { ": \($0)" } ?? "")] }

    var json: JSONText {
        .event(
            "serviceState",
            JSONText.members(key) + [("state", .string(state))] + JSONText.members(reason, because: message)
                + JSONText.delay(delay))
    }
}

/// Services cannot be looked for. It is tried again and again, which is not told.
struct BrowsingFailedEvent: ConsoleEvent {
    let error: ElementalError
    let delay: Duration

    var isResult: Bool { false }

    var lines: [String] { ["services cannot be found: \(error.message); trying again until it works"] }

    var json: JSONText {
        .event("browsingFailed", JSONText.members(error) + JSONText.delay(delay))
    }
}

/// Services can be looked for again.
struct BrowsingWorksEvent: ConsoleEvent {
    var isResult: Bool { false }

    var lines: [String] { ["services can be found again"] }

    var json: JSONText { .event("browsingWorks", []) }
}

/// A value of a service is not kept, because those of all services take too much.
struct ValueLeftOutEvent: ConsoleEvent {
    let key: ServiceKey
    let element: String
    let byteCount: Int

    var isResult: Bool { false }

    var lines: [String] {
        [
            "\(key): a value of '\(element)' of \(byteCount) bytes is left out: the values of all services take too much "
                + "memory; name the services that matter"
        ]
    }

    var json: JSONText {
        .event(
            "valueLeftOut",
            JSONText.members(key) + [("element", .string(element)), ("bytes", .integer(byteCount))])
    }
}

/// There are more services than can be followed, or no longer.
struct TooManyServicesEvent: ConsoleEvent {
    let count: Int

    var isResult: Bool { false }

    var lines: [String] {
        count == 0
            ? ["all services are followed again"]
            : ["\(count) services more are there than can be followed; name those that matter"]
    }

    var json: JSONText { .event("tooManyServices", [("count", .integer(count))]) }
}
