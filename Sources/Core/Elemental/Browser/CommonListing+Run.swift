import Logging
import Support
import Zeroconf

extension CommonListing {
    /// How many inputs may be queued; more than that ends the run.
    private static let bufferedInputs = 4096

    /// Reports verified services until the browser's events end, the task is cancelled or `tell` returns false.
    static func run(
        _ events: AsyncStream<ServiceBrowser.Event>, logger: Logger,
        _ tell: @escaping @Sendable (ElementalBrowser.Event) -> Bool
    ) async {
        let (inputs, continuation) = AsyncStream.makeStream(
            of: Input.self, bufferingPolicy: .bufferingOldest(bufferedInputs))
        let send = { @Sendable (input: Input) in
            // After a dropped input the listing would be wrong.
            if case .dropped = continuation.yield(input) { continuation.finish() }
        }
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in events { send(.listing(event)) }
                continuation.finish()
            }
            var listing = CommonListing()
            reading: for await input in inputs {
                for action in listing.handle(input, at: .now) {
                    switch action {
                    case .tell(let event):
                        if !tell(event) { break reading }
                    case .check(let check):
                        group.addTask { send(.answer(check, await resolve(check, logger))) }
                    case .wait(let time):
                        group.addTask {
                            await Delay.wait(time)
                            send(.tick)
                        }
                    case .note(let text):
                        logger.debug("\(text)")
                    }
                }
            }
            group.cancelAll()
        }
    }

    private static func resolve(_ check: Check, _ logger: Logger) async -> Result<ResolvedService, ZeroconfError> {
        do throws(ZeroconfError) {
            return .success(
                try await Resolver.resolve(check.claim, timeout: check.limit, wantsAddresses: false, logger: logger))
        } catch {
            return .failure(error)
        }
    }
}
