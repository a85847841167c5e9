import Elemental
import ElementalFollowing
import Support

/// Tells the user when services come, go and refuse, and when they cannot be found, once for each change: a service that
/// stays away is not told again.
final class SessionReporter: Sendable {
    private let console: Console
    private let access: ClientAccess
    private let told = Locked<[ServiceKey: String]>([:])
    private let places = Locked<[ServiceKey: ServicePlace]>([:])
    /// Why services cannot be found, as it was told; `nil` if they can.
    private let browsingFailure = Locked<String?>(nil)

    init(_ console: Console, _ access: ClientAccess) {
        self.console = console
        self.access = access
    }

    /// Notes an event of the sessions. It does not wait.
    func note(_ event: FollowerEvent) {
        switch event {
        case .place(let key, let place): places.withLock { $0[key] = place }
        case .state(let key, let state): note(state, of: key)
        case .browsingFailed(let error, let delay):
            let isNews = browsingFailure.withLock { told in
                defer { told = error.message }
                return told != error.message
            }
            if isNews { console.offer(BrowsingFailedEvent(error: error, delay: delay)) }
        case .browsingWorks:
            if browsingFailure.withLock({ $0.take() }) != nil { console.offer(BrowsingWorksEvent()) }
        case .tooMany(let count): console.offer(TooManyServicesEvent(count: count))
        case .leftOut(let key, let element, let byteCount):
            console.offer(ValueLeftOutEvent(key: key, element: element.name, byteCount: byteCount))
        case .value, .refusal, .roundTrip: break
        }
    }

    private func note(_ state: FollowedState, of key: ServiceKey) {
        let target = places.withLock { $0[key]?.target } ?? "\(key)"
        let advice = "elemental pair \(target.shellArgument)\(access.pairOptions)"
        guard let event = SessionStateEvent(key, state, advice: advice, access) else { return }
        let isNews: Bool
        if case .gone = state {
            isNews = told.withLock { $0.removeValue(forKey: key) } != nil
            _ = places.withLock { $0.removeValue(forKey: key) }
        } else {
            // What a service is away for may change with each attempt.
            let news = event.state == "refused" ? event.reason ?? "" : event.state
            isNews = told.withLock { $0.updateValue(news, forKey: key) } != news
        }
        if isNews { console.offer(event) }
    }
}
