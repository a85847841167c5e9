import Support
import Testing

/// Events on their way to handlers and streams.
struct EventHubTests {
    private let hub = EventHub<Int>()
    private let told = Locked<[String]>([])

    private func note(_ name: String) -> @Sendable (Int) -> Void {
        { [told] event in told.withLock { $0.append("\(name) \(event)") } }
    }

    @Test
    func handlersAreCalledInTheirOrderUntilTheyAreRemoved() {
        hub.addEventHandler(note("first"))
        let removeSecond = hub.addEventHandler(note("second"))
        hub.emit(1)
        removeSecond()
        removeSecond()
        hub.emit(2)
        hub.removeEventHandlers()
        hub.emit(3)
        #expect(told.withLock { $0 } == ["first 1", "second 1", "first 2"])
    }

    @Test
    func aHandlerMayAddAndRemoveHandlers() {
        let removal = Locked<(@Sendable () -> Void)?>(nil)
        let own = hub.addEventHandler { [hub, told] event in
            told.withLock { $0.append("own \(event)") }
            removal.withLock { $0 }?()
            hub.addEventHandler(note("later"))
        }
        removal.withLock { $0 = own }
        hub.emit(1)
        hub.emit(2)
        #expect(told.withLock { $0 } == ["own 1", "later 2"])
    }

    @Test
    func eachStreamGetsWhatComesFromThenOn() async {
        let early = hub.makeEventStream()
        hub.emit(1)
        let late = hub.makeEventStream()
        hub.emit(2)
        hub.finishEventStreams()
        #expect(await early.reduce(into: []) { $0.append($1) } == [1, 2])
        #expect(await late.reduce(into: []) { $0.append($1) } == [2])
    }

    @Test
    func aFinishedHubGivesEndedStreamsUntilItIsReopened() async {
        hub.finishEventStreams()
        #expect(await hub.makeEventStream().reduce(0, +) == 0)
        hub.withSubscribers { $0.reopen() }
        let stream = hub.makeEventStream()
        hub.emit(1)
        hub.finishEventStreams()
        #expect(await stream.reduce(0, +) == 1)
    }

    @Test
    func aStreamThatNobodyReadsKeepsTheNewestEvents() async {
        let stream = hub.makeEventStream()
        let bound = EventSubscribers<Int>.streamBufferCount
        for event in 0..<bound + 100 { hub.emit(event) }
        hub.finishEventStreams()
        let kept = await stream.reduce(into: []) { $0.append($1) }
        #expect(kept == Array(100..<bound + 100))
    }

    @Test
    func aHubThatGoesEndsItsStreams() async {
        var hub: EventHub<Int>? = EventHub<Int>()
        let stream = hub?.makeEventStream()
        hub?.emit(1)
        hub = nil
        #expect(await stream?.reduce(into: []) { $0.append($1) } == [1])
    }

    @Test
    func aCancelledConsumerDoesNotKeepTheOthersFromTheirEvents() async {
        let (cancelled, stream) = (hub.makeEventStream(), hub.makeEventStream())
        let consumer = Task { for await _ in cancelled {} }
        consumer.cancel()
        await consumer.value
        hub.emit(1)
        hub.finishEventStreams()
        #expect(await stream.reduce(0, +) == 1)
    }
}
