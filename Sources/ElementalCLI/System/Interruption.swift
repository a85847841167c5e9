import Elemental
import UnixSignals

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Work that ends in order on Ctrl-C, on SIGTERM, and when the reader of standard output is gone.
enum Interruption {
    /// From now on Ctrl-C and SIGTERM do not end the process: they wait for ``run(_:signals:_:)``. For who has
    /// something to leave in order before that.
    static func trap() async -> UnixSignalsSequence { await UnixSignalsSequence(trapping: .sigint, .sigterm) }

    /// Runs `body` and, when the user wants the program to end, cancels it and waits for it.
    ///
    /// Being cancelled is no failure then, unless the body has something to finish. A second signal ends the program at
    /// once, should the end take too long.
    static func run(
        _ console: Console, signals: UnixSignalsSequence? = nil, mustFinish: Bool = false,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (wishes, wish) = AsyncStream.makeStream(of: Void.self)
        console.onBrokenPipe { wish.yield() }
        let signals = if let signals { signals } else { await trap() }
        let watcher = Task {
            var count = 0
            for await _ in signals {
                count += 1
                if count > 1 { exit(130) }
                wish.yield()
            }
        }
        defer { watcher.cancel() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await body()
                return false
            }
            group.addTask {
                for await _ in wishes { break }
                return true
            }
            let isInterrupted = try await group.next() ?? false
            group.cancelAll()
            guard isInterrupted else { return }
            do {
                _ = try await group.next()
            } catch {
                if !CommandFailure(error).isCancellation { throw error }
                if mustFinish { throw CommandFailure("cancelled", "ended before it was done") }
            }
        }
    }
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
