internal import Elemental
internal import Support

/// Tries again without end, with growing delays, unless waiting does not help: what answers refuses this client, or has
/// become something else.
struct FollowerReconnection: ReconnectionPolicy {
    private let backOff: BackOff
    /// Whether a service that does not answer the greeting ends it. An address may be that of another service by now,
    /// which says no hello; what Zeroconf lists says so itself.
    private let endsInSilence: Bool
    private let last = Locked<ElementalError?>(nil)

    init(_ options: FollowerOptions, to place: ServicePlace) {
        backOff = BackOff(first: options.firstRetry, maximum: options.longestRetry)
        endsInSilence = place.discovered == nil
    }

    /// Why it gave up; `nil` if it has not.
    var failure: ElementalError? { last.withLock { $0 } }

    func delay(before attempt: ReconnectionAttempt) -> Duration? {
        if let error = attempt.lastError,
            FollowingProblem(error).isLasting || (endsInSilence && error.code == .timedOut)
        {
            last.withLock { $0 = error }
            return nil
        }
        return backOff.delay(before: attempt.number)
    }
}
