import Elemental
import Support

/// Runs the commands of one element.
struct ScriptedElement: Sendable {
    /// How long a command that reads or writes may take.
    private static let timeout = Duration.seconds(10)
    /// The maximum length of a reading in bytes. A command with a longer reading fails.
    private static let longestReading = 1 << 20
    /// The number of consecutive failures after which a reading is stale.
    private static let failuresUntilStale = 3
    /// How long a command that floods waits before more is read.
    private static let floodPause = Duration.milliseconds(20)

    let element: ElementDefinition
    let service: ElementalService
    let values: PendingValues
    let console: Console
    /// The standard error of the commands, by their words.
    private let errors = Locked<[String: CommandErrors]>([:])
    /// The last failure of each command, which is reported once.
    private let told = Locked<[String: String]>([:])

    func run(_ command: ElementScript.Command) async {
        switch command.purpose {
        case .read: await read(command, every: .seconds(command.seconds))
        case .follow: await follow(command)
        case .write: await write(command)
        case .sink: await sink(command)
        }
    }

    private func read(_ command: ElementScript.Command, every interval: Duration) async {
        var failureCount = 0
        while !Task.isCancelled {
            let start = ContinuousClock.now
            let output = Locked<[UInt8]>([])
            let end = await execute(command, timeout: Self.timeout) { bytes in
                output.withLock { output in
                    output += bytes
                    return output.count <= Self.longestReading
                }
            }
            let problem = report(end, command) { try self.take(output.withLock { $0 }) }
            failureCount = problem == nil ? 0 : min(failureCount + 1, Self.failuresUntilStale + 1)
            if let problem, failureCount == Self.failuresUntilStale, service.clearValue(of: element) {
                console.offer(.command(element.name, "read", problem: problem, isStale: true))
            }
            await Delay.wait(max(interval - (.now - start), .milliseconds(10)))
        }
    }

    private func follow(_ command: ElementScript.Command) async {
        var backOff = BackOff(first: .seconds(1), maximum: .seconds(60))
        while !Task.isCancelled {
            let start = ContinuousClock.now
            let reader = Locked(NewestLines(limit: Self.longestReading))
            let end = await execute(command, timeout: nil) { bytes in
                let (lines, isFlood) = reader.withLock { $0.take(bytes) }
                for line in lines {
                    self.report(.exited(0), command) { try self.take(Array(try line.get().utf8)) }
                }
                if isFlood { Self.pause() }
                return true
            }
            if let last = reader.withLock({ $0.last() }) {
                report(.exited(0), command) { try self.take(Array(try last.get().utf8)) }
            }
            guard !Task.isCancelled else { return }
            report(end == .exited(0) ? .failed("it has ended and is started again") : end, command)
            if .now - start > .seconds(60) { backOff.reset() }
            await Delay.wait(backOff.next())
        }
    }

    private func write(_ command: ElementScript.Command) async {
        while let offer = await values.next(of: element) {
            let written = Locked(0)
            let input = if case .data(let bytes) = offer.value { Array(bytes) } else { line(offer.value) }
            let end = await execute(command, input: input, timeout: Self.timeout) { bytes in
                written.withLock { written in
                    written += bytes.count
                    return written <= Self.longestReading
                }
            }
            report(end, command)
            if end == .stopped {
                // The next command receives the value, which may be another command.
                values.putBack(offer, of: element)
            } else if let failure = end.failure {
                offer.refuse("its command failed: \(failure)")
            } else {
                offer.accept()
            }
        }
    }

    private func sink(_ command: ElementScript.Command) async {
        var backOff = BackOff(first: .seconds(1), maximum: .seconds(60))
        while !Task.isCancelled {
            let start = ContinuousClock.now
            let process = CommandProcess(command.text, keepsInput: true)
            let result = Locked((end: CommandProcess.End.stopped, unwritten: PendingValues.Offer?.none))
            await Interruption.first {
                let end = await self.execute(command, process, timeout: nil) { _ in true }
                result.withLock { $0.end = end }
            } or: {
                let unwritten = await self.feed(process)
                result.withLock { $0.unwritten = unwritten }
            }
            guard !Task.isCancelled else { return }
            let (end, unwritten) = result.withLock { $0 }
            let reason = end.failure ?? (end == .stopped ? "it does not read its input" : "it has ended")
            unwritten?.refuse("its command failed: \(reason)")
            report(.failed(reason + " and is started again"), command)
            if .now - start > .seconds(60) { backOff.reset() }
            let pause = backOff.next()
            await Interruption.first {
                await Delay.wait(pause)
            } or: { [self] in
                while let offer = await values.next(of: element) { offer.refuse("its command failed: \(reason)") }
            }
        }
    }

    /// Writes the element's value to a command, and then each value that a client sets.
    ///
    /// - Returns: the value that could not be written completely, if there is one. The command has to be started again.
    private func feed(_ process: CommandProcess) async -> PendingValues.Offer? {
        if let value = service.value(of: element), await !process.write(line(value), within: Self.timeout) {
            return nil
        }
        while let offer = await values.next(of: element) {
            if await process.write(line(offer.value), within: Self.timeout) {
                report(.exited(0), .init(purpose: .sink, text: ""))
                offer.accept()
            } else if Task.isCancelled {
                values.putBack(offer, of: element)
            } else {
                return offer
            }
        }
        return nil
    }

    /// A value as the line that a command reads.
    private func line(_ value: ElementValue) -> [UInt8] { Array((element.text(of: value) + "\n").utf8) }

    /// Parses the output of a command and sets the element to it.
    private func take(_ output: [UInt8]) throws {
        let value: ElementValue
        if element.type == .data {
            value = .data(.init(output))
        } else {
            guard let line = String(validating: output.firstLine, as: UTF8.self) else {
                throw CommandFailure("invalidText", "its output is not UTF-8 text")
            }
            let isText = element.type == .string && element.choices.isEmpty
            value = try ElementValue(text: isText ? line : line.trimmed, of: element)
        }
        try service.send(value, to: element)
    }

    /// Runs a command on a thread of its own, and ends it when the task is cancelled.
    private func execute(
        _ command: ElementScript.Command, _ process: CommandProcess? = nil, input: [UInt8] = [], timeout: Duration?,
        _ take: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) async -> CommandProcess.End {
        let process = process ?? CommandProcess(command.text)
        let word = command.purpose.rawValue
        let end = await withTaskCancellationHandler {
            await Blocking.finish {
                process.run(input: input, timeout: timeout) { bytes in
                    self.show(self.errors.withLock { $0[word, default: CommandErrors()].take(bytes, at: .now) }, word)
                    if bytes.count == CommandProcess.pieceByteCount { Self.pause() }
                } _: {
                    take($0)
                }
            }
        } onCancel: {
            process.stop()
        }
        show(errors.withLock { $0[word]?.finish() ?? [] }, word)
        return end
    }

    private func show(_ lines: [String], _ word: String) {
        for line in lines { console.offer(.commandError(element.name, word, line)) }
    }

    /// Slows down a command that floods: its output stays in the pipe. Call this only on the command's own thread.
    private static func pause() {
        var time = timespec(tv_sec: 0, tv_nsec: Int(floodPause.nanoseconds))
        nanosleep(&time, nil)
    }

    /// Reports once that a command fails, and once that it works again. Returns the reason of a failure.
    @discardableResult
    private func report(
        _ end: CommandProcess.End, _ command: ElementScript.Command, _ body: () throws -> Void = {}
    ) -> String? {
        guard end != .stopped else { return nil }
        var problem = end.failure
        if problem == nil {
            do {
                try body()
            } catch {
                problem = CommandFailure(error).description
            }
        }
        let word = command.purpose.rawValue
        let before = told.withLock { told in
            defer { told[word] = problem }
            return told[word]
        }
        if before != problem { console.offer(.command(element.name, word, problem: problem)) }
        return problem
    }
}

extension ConsoleEvent where Self == Notice {
    /// A command of an element fails, works again, or has failed for so long that the element is stale.
    static func command(_ element: String, _ command: String, problem: String?, isStale: Bool = false) -> Notice {
        Notice(
            "command",
            [
                ("element", .string(element)), ("command", .string(command)),
                ("state", .string(isStale ? "stale" : problem == nil ? "ok" : "failed")),
                ("message", .optional(problem)),
            ],
            isStale
                ? "'\(element)' is stale and no longer has a value: \(command) has failed three times"
                : "'\(element)': \(command)" + (problem.map { ": \($0)" } ?? " works again"))
    }

    static func commandError(_ element: String, _ command: String, _ text: String) -> Notice {
        Notice(
            "commandError",
            [("element", .string(element)), ("command", .string(command)), ("message", .string(text))],
            "'\(element)': \(command) printed: \(text)")
    }
}
