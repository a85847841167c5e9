package import NIOCore

/// A listening channel that is opened again when something other than the program closes it: SwiftNIO closes it when
/// the system reports certain errors, and nothing else notices.
package final class KeptChannel: Sendable {
    package enum Event: Sendable {
        /// The channel was closed (`nil`), or reopening it failed with this error. The next attempt follows after the
        /// delay.
        case lost((any Error)?, retryIn: Duration)
        case restored

        /// The reason for the loss; `nil` if the channel listens again.
        package var reason: String? {
            guard case .lost(let error, _) = self else { return nil }
            return error.map { NetworkFailure($0).reason } ?? "the system has closed the socket"
        }
    }

    private struct State {
        var channel: any Channel
        var isClosing = false
    }

    private let state: Locked<State>
    private let open: @Sendable () async throws -> any Channel
    private let tell: @Sendable (Event) -> Void

    /// - Parameters:
    ///   - channel: the first channel, already open.
    ///   - open: opens another channel at the same place.
    ///   - tell: receives the events, on any thread.
    package init(
        _ channel: any Channel, open: @escaping @Sendable () async throws -> any Channel,
        tell: @escaping @Sendable (Event) -> Void
    ) {
        state = Locked(State(channel: channel))
        self.open = open
        self.tell = tell
        watch(channel)
    }

    /// The newest channel.
    package var channel: any Channel { state.withLock { $0.channel } }

    private var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Closes the channel, which is not opened again.
    package func close() async { try? await release().close() }

    /// Returns the newest channel for the caller to close. It is not opened again.
    @discardableResult
    package func release() -> any Channel {
        state.withLock { state in
            state.isClosing = true
            return state.channel
        }
    }

    private func watch(_ channel: any Channel) {
        channel.closeFuture.whenComplete { [weak self] _ in
            if let self, !isClosing { Task { await self.reopen() } }
        }
    }

    /// Retries until ``close()`` or ``release()``.
    private func reopen() async {
        var backOff = BackOff(first: .milliseconds(100))
        var error: (any Error)?
        while true {
            let delay = backOff.next()
            tell(.lost(error, retryIn: delay))
            await Delay.wait(delay)
            if isClosing { return }
            do {
                let channel = try await open()
                let isWanted = state.withLock { state in
                    if !state.isClosing { state.channel = channel }
                    return !state.isClosing
                }
                guard isWanted else {
                    try? await channel.close()
                    return
                }
                tell(.restored)
                return watch(channel)
            } catch EventLoopError.shutdown {
                // The program's event loops have ended, and all channels with them.
                return
            } catch let failure {
                error = failure
            }
        }
    }
}
