package import Elemental
internal import Support

/// Browses until the task is cancelled. Begins again when the browser gave up because too many events came at once, and
/// detects that browsing works again after a failure. If nothing has changed, only the absence of further failures
/// shows that.
package enum Browsing {
    package enum Event: Sendable {
        /// Browsing begins, or begins again: what was found before may be gone.
        case began
        /// A service was found, changed, or is gone.
        case service(ElementalBrowser.Event)
        /// Browsing fails; the next attempt follows after the delay.
        case failed(ElementalError, retryIn: Duration)
    }

    /// Longer than a failing attempt to browse takes.
    private static let attemptTime = Duration.seconds(1)

    /// - Parameters:
    ///   - works: called when browsing works again, perhaps on another thread than `take`.
    ///   - take: called with each event.
    /// - Throws: ``ElementalError`` if the browser's service name is not valid.
    package static func follow(
        _ browser: ElementalBrowser, works: @escaping @Sendable () -> Void, _ take: (Event) async -> Void
    ) async throws(ElementalError) {
        while !Task.isCancelled {
            let events = try browser.events()
            await take(.began)
            await withDiscardingTaskGroup { group in
                let failures = Locked(Failures())
                for await event in events {
                    if case .failed(let error, let delay) = event {
                        let number = failures.withLock { $0.begin() }
                        await take(.failed(error, retryIn: delay))
                        group.addTask {
                            await Delay.wait(delay + attemptTime)
                            if !Task.isCancelled, failures.withLock({ $0.end(number) }) { works() }
                        }
                    } else {
                        if failures.withLock({ $0.end() }) { works() }
                        await take(.service(event))
                    }
                }
                group.cancelAll()
            }
            if !Task.isCancelled { await Delay.wait(.seconds(1)) }
        }
    }

    /// Counts the failures to browse, to detect whether the last one is over.
    struct Failures {
        private var count = 0
        private var isFailing = false

        mutating func begin() -> Int {
            count += 1
            isFailing = true
            return count
        }

        /// - Parameter number: the failure after which no other may have come; `nil` for any.
        /// - Returns: whether browsing was failing.
        mutating func end(_ number: Int? = nil) -> Bool {
            guard isFailing, number == nil || number == count else { return false }
            isFailing = false
            return true
        }
    }
}
