import Elemental

/// What a command has to say, on standard output and standard error: results go to the one, talk to the other, each line
/// at once, also into a pipe.
///
/// A reader that is slower than the output makes those wait who have something to say, and nobody else; a reader that is
/// gone ends the program in order.
struct Console: Sendable {
    /// Whether results are written as JSON, one object a line.
    let isJSON: Bool

    private let streams = StandardStreams.shared

    init(json: Bool) { isJSON = json }

    /// Writes an event: results to standard output, everything else to standard error; as JSON all of it to standard
    /// output.
    ///
    /// Returns when there is room for more; what was said is in its place before.
    func emit(_ event: Event) async {
        put(event)
        await waitForRoom(after: event)
    }

    /// Puts an event in its place among the others without waiting. For places that cannot, but are followed by
    /// ``waitForRoom(after:)``.
    func put(_ event: Event) {
        let (stream, lines) = lines(event)
        for line in lines { streams.write(line, to: stream) }
    }

    /// Waits as long as too much waits to be written where that event goes, or until the task is cancelled.
    func waitForRoom(after event: Event) async { await streams.waitForRoom(in: stream(event)) }

    /// Writes an event if there is room, and otherwise tells later how many were left out.
    ///
    /// For handlers on event loops, which cannot wait.
    func offer(_ event: Event) {
        let (stream, lines) = lines(event)
        for line in lines { streams.offer(line, to: stream) }
    }

    /// Tells later that so many events had to be left out.
    func noteOmitted(_ count: Int) { streams.noteOmitted(count) }

    /// Writes a line for a person to standard error.
    func talk(_ line: String) async {
        streams.write(line, to: .error)
        await streams.waitForRoom(in: .error)
    }

    /// Writes a line for a person to standard error if there is room. For handlers on event loops, which cannot wait.
    func offer(_ line: String) { streams.offer(line, to: .error) }

    /// Bytes of a value, which go to standard output as they are.
    func emit(bytes: some RandomAccessCollection<UInt8> & Sendable) async {
        // In parts, so that a large value is not copied as a whole.
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(OutputQueue.capacity / 4)
            streams.write(part)
            await streams.waitForRoom(in: .output)
            rest = rest[part.endIndex...]
        }
    }

    /// Shows how far something is in the terminal's last line, where standard error is a terminal; `nil` takes it away.
    func show(status progress: ProgressLine?) {
        if !isJSON { streams.show(status: progress) }
    }

    /// Shows a prompt, which stays below what is written meanwhile, until ``hidePrompt()``.
    func show(prompt: String) async {
        streams.show(prompt: prompt)
        await streams.waitForRoom(in: .output)
    }

    /// The line at the prompt has been typed.
    func hidePrompt() { streams.hidePrompt() }

    /// Nothing will be typed at the prompt any more.
    func endPrompt() { streams.endPrompt() }

    /// Waits until everything has been written, however long its readers take, as long as the program is not to end.
    ///
    /// - Returns: whether it has been.
    @discardableResult
    func finish() async -> Bool { await streams.finish() }

    /// Why standard output cannot be written; `nil` also if its reader is just gone.
    var failure: CommandFailure? { streams.failure }

    private func stream(_ event: Event) -> StandardStreams.Stream { isJSON || event.isResult ? .output : .error }

    private func lines(_ event: Event) -> (StandardStreams.Stream, [String]) {
        (stream(event), isJSON ? event.json.map(\.text) : event.lines)
    }
}
