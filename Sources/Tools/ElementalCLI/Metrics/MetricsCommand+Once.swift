import Elemental
import ElementalFollowing
import ServiceMetrics
import Support

extension MetricsCommand {
    /// Prints the metrics when all targets are connected and have sent their values, or after the timeout.
    ///
    /// - Throws: ``CommandFailure`` if a target is not connected; the metrics have been printed nevertheless.
    func print(_ metrics: ServiceMetrics, of followed: FollowedServices, _ console: Console) async throws {
        let follower = followed.follower
        let progress = TargetProgress(followed.targets)
        follower.onEvent { progress.note($0) }
        let (text, failure) = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await follower.run() }
            group.addTask { [services, output] in
                // What is found cannot be known to be all.
                let deadline = ContinuousClock.now + output.limit
                if services.followsAll {
                    await Delay.wait(output.limit)
                } else {
                    await Interruption.limit(to: output.limit) { await progress.allConnected.wait() }
                }
                let rest = max(.milliseconds(100), min(Self.settlingTime, deadline - .now))
                await settle(progress.connected, of: follower, within: rest)
            }
            defer { group.cancelAll() }
            try await group.next()
            // While the services are still connected.
            return (
                metrics.text(), progress.failure { "not connected within \(output.limit): \($0)" }
            )
        }
        try Task.checkCancellation()
        if let to {
            try FileContent.replace(to, with: text)
        } else {
            await console.emit(MetricsEvent(text: String(decoding: text, as: UTF8.self)))
        }
        if let failure { throw failure }
    }

    /// How long services may take to send their values.
    private static let settlingTime: Duration = .seconds(1)

    /// Waits until the services have sent the values that they had when they were connected: the answer to a ping comes
    /// after them. An older service answers none.
    private func settle(_ keys: [ServiceKey], of follower: Follower, within time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for key in keys {
                guard let device = follower.device(of: key) else { continue }
                group.addTask {
                    do throws(ElementalError) {
                        _ = try await device.ping(timeout: time)
                    } catch {
                        if error.code == .notAllowed { await Delay.wait(min(time, .milliseconds(500))) }
                    }
                }
            }
        }
    }
}

/// The metrics of one moment.
struct MetricsEvent: ConsoleEvent {
    let text: String

    var isResult: Bool { true }

    var lines: [String] { text.split(separator: "\n").map(String.init) }

    var json: JSONText { .event("metrics", [("text", .string(text))]) }
}
