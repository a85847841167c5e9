import Elemental

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Standard output and standard error: results go to the one, talk to the other, each line at once, also into a pipe.
///
/// A reader that is slower than the output makes the caller wait; a reader that is gone ends the program in order.
final class Console: Sendable {
    /// Whether results are written as JSON, one object a line.
    let isJSON: Bool

    private struct State {
        var prompt: String?
        /// What the terminal's last line shows below all that is written.
        var status: String?
        var isBroken = false
        var failure: CommandFailure?
        var onBroken: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())
    private let hasStatus: Bool

    init(json: Bool) {
        isJSON = json
        hasStatus = !json && isatty(STDERR_FILENO) == 1
        // A reader that is gone shall be an error of the write, not a signal.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Writes an event: results to standard output, everything else to standard error; as JSON all of it to standard
    /// output.
    func emit(_ event: Event) {
        if isJSON {
            for object in event.json { write(object.text) }
        } else if event.isResult {
            for line in event.lines { write(Self.printable(line)) }
        } else {
            for line in event.lines { talk(line) }
        }
    }

    /// Writes a line for a person to standard error.
    func talk(_ line: String) {
        state.withLock { state in
            let line = Self.printable(line)
            if state.prompt != nil { _ = Descriptor.writeAll(Self.emptyLine, to: STDOUT_FILENO) }
            if state.status != nil { _ = Descriptor.writeAll(Self.emptyLine, to: STDERR_FILENO) }
            _ = Descriptor.writeAll(line + "\n", to: STDERR_FILENO)
            if let status = state.status { _ = Descriptor.writeAll(status, to: STDERR_FILENO) }
            if let prompt = state.prompt { _ = Descriptor.writeAll(prompt, to: STDOUT_FILENO) }
        }
    }

    /// Shows how far something is in the terminal's last line, where standard error is a terminal; `nil` takes it away.
    func show(status progress: ProgressLine?) {
        guard hasStatus else { return }
        state.withLock { state in
            guard progress != nil || state.status != nil else { return }
            // The last column stays free: a full line would begin a new one.
            state.status = progress.map { Self.printable($0.text(columns: Self.columns - 1)) }
            _ = Descriptor.writeAll(Self.emptyLine + (state.status ?? state.prompt ?? ""), to: STDERR_FILENO)
        }
    }

    /// Bytes of a value, which go to standard output as they are.
    func emit(bytes: UnsafeRawBufferPointer) {
        write { _ in Descriptor.writeAll(bytes, to: STDOUT_FILENO) }
    }

    /// Shows a prompt, which stays below what is written meanwhile, until ``hidePrompt()``.
    func show(prompt: String) {
        state.withLock { state in
            state.prompt = prompt
            _ = Descriptor.writeAll(prompt, to: STDOUT_FILENO)
        }
    }

    /// The line at the prompt has been typed.
    func hidePrompt() { state.withLock { $0.prompt = nil } }

    /// Nothing will be typed at the prompt any more.
    func endPrompt() {
        state.withLock { state in
            if state.prompt.take() != nil { _ = Descriptor.writeAll("\n", to: STDOUT_FILENO) }
        }
    }

    /// Calls `handler` once when the reader of standard output is gone, at once if it is.
    func onBrokenPipe(_ handler: @escaping @Sendable () -> Void) {
        let isBroken = state.withLock { state in
            if !state.isBroken { state.onBroken.append(handler) }
            return state.isBroken
        }
        if isBroken { handler() }
    }

    /// Why standard output cannot be written; `nil` also if its reader is just gone.
    var failure: CommandFailure? { state.withLock { $0.failure } }

    private func write(_ line: String) {
        write { state in
            if state.status != nil { _ = Descriptor.writeAll(Self.emptyLine, to: STDERR_FILENO) }
            defer { if let status = state.status { _ = Descriptor.writeAll(status, to: STDERR_FILENO) } }
            guard let prompt = state.prompt else { return Descriptor.writeAll(line + "\n", to: STDOUT_FILENO) }
            return Descriptor.writeAll(Self.emptyLine + line + "\n" + prompt, to: STDOUT_FILENO)
        }
    }

    /// - Parameter body: writes to standard output and returns whether all of it was written.
    private func write(_ body: (State) -> Bool) {
        let handlers = state.withLock { state -> [@Sendable () -> Void] in
            guard !state.isBroken else { return [] }
            if body(state) { return [] }
            state.isBroken = true
            if errno != EPIPE {
                state.failure = CommandFailure(
                    "failed", "standard output cannot be written: \(String(cString: strerror(errno)))")
            }
            defer { state.onBroken.removeAll() }
            return state.onBroken
        }
        for handler in handlers { handler() }
    }

    /// Makes the terminal's line empty.
    private static let emptyLine = "\r\u{1B}[K"

    /// Characters in a line of the terminal at standard error.
    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The line without anything that would move a terminal's cursor or end the line: names, texts and values come
    /// from the network.
    private static func printable(_ line: String) -> String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) }
        guard line.unicodeScalars.contains(where: isControl) else { return line }
        return line.unicodeScalars.map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
    }
}
