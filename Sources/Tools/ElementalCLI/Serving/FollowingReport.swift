import Elemental
import ElementalFollowing
import Support

/// Reports when services come, go and refuse, and when they cannot be found. Each change is reported once: a service
/// that stays away is not reported again.
struct FollowingReport: Sendable {
    private struct Told {
        var states: [ServiceKey: String] = [:]
        /// Why services cannot be found; `nil` if they can.
        var browsingFailure: String?
    }

    let console: Console
    let followed: FollowedServices
    private let told = Locked(Told())

    /// Reports an event of the follower. Does not wait.
    func note(_ event: FollowerEvent) {
        switch event {
        case .state(let key, let state): note(state, of: key)
        case .browsingFailed(let error, let delay):
            let earlier = told.withLock { told in
                defer { told.browsingFailure = error.message }
                return told.browsingFailure
            }
            if earlier != error.message { console.offer(.browsingFailed(error, delay)) }
        case .browsingWorks:
            if told.withLock({ $0.browsingFailure.take() }) != nil { console.offer(.browsingWorks) }
        case .tooMany(let count): console.offer(.tooManyServices(count))
        case .leftOut(let key, let element, let byteCount): console.offer(.valueLeftOut(key, element, byteCount))
        case .place, .value, .history, .refusal, .roundTrip: break
        }
    }

    private func note(_ state: FollowedState, of key: ServiceKey) {
        switch state {
        case .connecting: break
        case .connected: tell(key, "connected")
        // A new reason is not reported, because it may change with each attempt.
        case .away(let problem, let delay): tell(key, "away", problem, delay)
        case .refused(let problem): tell(key, "refused", problem, news: problem.code)
        case .gone:
            if told.withLock({ $0.states.removeValue(forKey: key) }) != nil {
                console.offer(.serviceState(key, "gone"))
            }
        }
    }

    private func tell(
        _ key: ServiceKey, _ state: String, _ problem: FollowingProblem? = nil, _ delay: Duration? = nil,
        news: String? = nil
    ) {
        let news = news ?? state
        guard told.withLock({ $0.states.updateValue(news, forKey: key) }) != news else { return }
        let message = problem.map { problem in
            let place = followed.follower.place(of: key)
            return problem.message
                + (place.map { PairingAdvice(place: $0, access: followed.access).remedy(for: problem.kind) } ?? "")
        }
        console.offer(.serviceState(key, state, problem?.code, message, delay))
    }
}

extension ConsoleEvent where Self == Notice {
    /// - Parameter reason: the code of the reason why it is not connected; `message` is its text.
    static func serviceState(
        _ key: ServiceKey, _ state: String, _ reason: String? = nil, _ message: String? = nil, _ delay: Duration? = nil
    ) -> Notice {
        Notice(
            "serviceState",
            JSONText.members(key) + [("state", .string(state))] + JSONText.members(reason, because: message)
                + JSONText.delay(delay),
            "\(key) is \(state)" + (message.map { ": \($0)" } ?? ""))
    }

    /// Services cannot be found. Further attempts are not reported.
    static func browsingFailed(_ error: ElementalError, _ delay: Duration) -> Notice {
        Notice(
            "browsingFailed", JSONText.members(error) + JSONText.delay(delay),
            "services cannot be found: \(error.message); retrying")
    }

    static var browsingWorks: Notice { Notice("browsingWorks", [], "services can be found again") }

    /// A value of a service is not kept, because those of all services take too much.
    static func valueLeftOut(_ key: ServiceKey, _ element: ElementDefinition, _ byteCount: Int) -> Notice {
        Notice(
            "valueLeftOut",
            JSONText.members(key) + [("element", .string(element.name)), ("bytes", .integer(byteCount))],
            "\(key): a value of '\(element.name)' of \(byteCount) bytes is left out: the values of all services take too "
                + "much memory; name the services to follow")
    }

    static func tooManyServices(_ count: Int) -> Notice {
        Notice(
            "tooManyServices", [("count", .integer(count))],
            count == 0
                ? "all services are followed again"
                : "\(count) services exceed the limit and are not followed; name the ones to follow")
    }

    /// - Parameters:
    ///   - tokenFile: the file with the required token; `nil` if none is required.
    ///   - isTokenHidden: whether the address lacks the token.
    ///   - fingerprint: the fingerprint of the dashboard's own certificate; `nil` if it has none.
    ///   - note: a warning about who may read the page; `nil` for none.
    static func serving(
        _ url: String, tokenFile: String? = nil, isTokenHidden: Bool = false, fingerprint: String? = nil,
        _ note: String?
    ) -> Notice {
        let question =
            fingerprint == nil
            ? nil
            : "the certificate is this dashboard's own: browsers ask once whether to trust it. Its SHA-256 fingerprint is"
        let hint = isTokenHidden ? tokenFile.map { "open \(url)#token=TOKEN with the token in \($0)" } : nil
        return Notice(
            "serving",
            [
                ("url", .string(url)), ("tokenFile", .optional(tokenFile)), ("fingerprint", .optional(fingerprint)),
                ("message", .optional(note)),
            ],
            ["serving \(url)"] + [hint, question, fingerprint, note].compactMap { $0 })
    }
}
