/// Events of handlers, which cannot wait for the console: a task writes them. Of those beyond 4,096 the oldest are omitted,
/// and counted.
struct PendingEvents<Event: Sendable>: Sendable {
    private let console: Console
    private let continuation: AsyncStream<Event>.Continuation
    private let writing: Task<Void, Never>

    init(_ console: Console, write: @escaping @Sendable (Event) async -> Void) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(4096))
        self.console = console
        self.continuation = continuation
        writing = Task { for await event in events { await write(event) } }
    }

    func add(_ event: Event) {
        if case .dropped = continuation.yield(event) { console.streams.noteOmitted(1) }
    }

    func finish() async {
        continuation.finish()
        await writing.value
    }
}
