package import NIOCore

/// A channel that listens, and is opened again when it was closed behind the program's back: SwiftNIO closes one when the
/// system reports certain errors, and nothing else would notice.
package final class KeptChannel: Sendable {
    package enum Event: Sendable {
        /// It was closed (`nil`), or cannot be opened again for this reason. The next attempt follows after the delay.
        case lost((any Error)?, retryIn: Duration)
        case restored

        /// Why it does not listen; `nil` if it does.
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
    ///   - channel: the channel as it was opened first.
    ///   - open: opens another one at the same place.
    ///   - tell: called from any thread.
    package init(
        _ channel: any Channel, open: @escaping @Sendable () async throws -> any Channel,
        tell: @escaping @Sendable (Event) -> Void
    ) {
        state = Locked(State(channel: channel))
        self.open = open
        self.tell = tell
        watch(channel)
    }

    /// The newest one.
    package var channel: any Channel { state.withLock { $0.channel } }

    private var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Closes it for good.
    package func close() async { try? await release().close() }

    /// The newest one, for the caller to close: it is not opened again.
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

    /// It does not give up before ``close()``.
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
                // The program's loops have ended, and with them all channels.
                return
            } catch let failure {
                error = failure
            }
        }
    }
}
