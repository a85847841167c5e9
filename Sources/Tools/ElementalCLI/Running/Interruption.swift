import Elemental
import Support

/// Work that shuts down cleanly on Ctrl-C, on SIGTERM, and when the reader of standard output has gone.
enum Interruption {
    /// From now on Ctrl-C and SIGTERM no longer kill the process but wait for ``run(_:_:_:)``. For commands that have
    /// something to clean up even before that.
    static func trap() async { await EndRequest.shared.trapSignals { StandardStreams.shared.limitDraining() } }

    /// The kind of a command's work, which decides the effect of an interruption.
    enum Work: Sendable {
        /// Runs until it is interrupted.
        case endless
        /// Prints a number of values and then ends by itself.
        case counted
        /// Does one thing, even if the reader of standard output has gone.
        case task
    }

    /// Runs `body`. If the program is interrupted, cancels it and waits for it.
    ///
    /// If that takes too long for the user, a second signal ends the program at once.
    /// - Throws: ``Interrupted`` if a signal ended work that would have ended by itself; otherwise the error of `body`,
    ///   unless it is only a cancellation.
    static func run(
        _ console: Console, _ work: Work = .endless, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        await trap()
        let task = Task {
            try await body()
            // The work is done once its results have been written.
            if work != .endless, await !console.streams.finish() { throw CancellationError() }
        }
        let waiting = Task {
            guard await EndRequest.shared.wait(signalsOnly: work == .task) else { return false }
            task.cancel()
            return true
        }
        do {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
            waiting.cancel()
        } catch {
            waiting.cancel()
            guard await waiting.value else { throw error }
            if work != .endless, let signal = EndRequest.shared.signal { throw Interrupted(signal: signal) }
            if !CommandFailure(error).isCancellation { throw error }
        }
    }

    /// Waits until the task is cancelled.
    static func forever() async throws {
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        throw CancellationError()
    }

    /// Runs `body` and cancels it after that time, if there is a limit; returns `nil` if the time was over first.
    @discardableResult
    static func limit<Value: Sendable>(
        to time: Duration?, _ body: @escaping @Sendable () async throws -> Value
    ) async rethrows -> Value? {
        guard let time else { return try await body() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                await Delay.wait(time)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Runs both, and cancels the other when one of them ends.
    static func first(
        _ one: @escaping @Sendable () async -> Void, or other: @escaping @Sendable () async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await one() }
            group.addTask { await other() }
            await group.next()
            group.cancelAll()
        }
    }
}

/// A signal interrupted a command that had something to finish.
struct Interrupted: Error {
    let signal: Int32

    /// The status that a shell gives a program that the signal ended: 130 for Ctrl-C, 143 for SIGTERM.
    var status: Int32 { 128 + signal }
}

/// Runs `body` and then `cleanup`, whether or not `body` throws. A `defer` cannot wait for asynchronous work.
func withCleanup<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result, cleanup: () async -> Void
) async rethrows -> Result {
    do {
        let result = try await body()
        await cleanup()
        return result
    } catch {
        await cleanup()
        throw error
    }
}
