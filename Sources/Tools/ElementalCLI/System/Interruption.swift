import Elemental

/// Work that ends in order on Ctrl-C, on SIGTERM, and when the reader of standard output is gone.
enum Interruption {
    /// From now on Ctrl-C and SIGTERM do not end the process: they wait for ``run(_:mustFinish:_:)``. For commands that
    /// have something to leave in order from before that.
    static func trap() async { await EndRequest.shared.trapSignals() }

    /// What a command does, which decides what it means that it was ended.
    enum Work: Sendable {
        /// It runs until it is told to end.
        case endless
        /// It prints so many values and ends by itself then.
        case counted
        /// It does one thing, and does it even if the reader of standard output is gone.
        case task
    }

    /// Runs `body` and, when the program is to end, cancels it and waits for it.
    ///
    /// A second signal ends the program at once, should the end take too long.
    /// - Throws: ``Interrupted`` if a signal ended what has an end of its own; otherwise what `body` throws, unless it only
    ///   says that it was told to end.
    static func run(
        _ console: Console, _ work: Work = .endless, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        await trap()
        let task = Task {
            try await body()
            // What was asked for is done when it has been written.
            if work != .endless, await !console.finish() { throw CancellationError() }
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
}

/// A command that had something to finish was interrupted before it had.
struct Interrupted: Error {
    let signal: Int32

    /// As a shell has it for a program that a signal ended: 130 for Ctrl-C, 143 for SIGTERM.
    var status: Int32 { 128 + signal }
}

extension Interruption {
    /// Waits until the task is cancelled.
    static func forever() async throws {
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        throw CancellationError()
    }
}

extension Interruption {
    /// Runs `body` for at most that time, then cancels it; without a limit until it ends.
    static func limit(to time: Duration?, _ body: @escaping @Sendable () async throws -> Void) async rethrows {
        guard let time else { return try await body() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask { await Delay.wait(time) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

extension Interruption {
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
