import Dispatch
import Support
import Synchronization
import TestSupport
import Testing

@testable import Elemental

/// The buffer between an event loop and the task that takes its values, without either.
struct ValueStreamTests {
    /// Counts the pauses that a stream asks for.
    private final class Reading: Sendable {
        private let pauses = Locked((last: UInt64(0), open: Set<UInt64>()))

        var isPaused: Bool { pauses.withLock { !$0.open.isEmpty } }
        var pauseCount: UInt64 { pauses.withLock { $0.last } }

        private let drops = Atomic(0)

        var dropCount: Int { drops.load(ordering: .relaxed) }

        func stream<Value>(
            _ buffering: StreamBuffering = .waiting, maximumCount: Int = 2, maximumByteCount: Int = 1_000_000
        ) -> ValueStream<Value> {
            ValueStream(
                buffering, maximumCount: maximumCount, maximumByteCount: maximumByteCount, pause: { self.pause() },
                resume: { self.resume($0) }, didDrop: { self.drops.add($0, ordering: .relaxed) })
        }

        func pause() -> UInt64 {
            pauses.withLock { pauses in
                pauses.last += 1
                pauses.open.insert(pauses.last)
                return pauses.last
            }
        }

        func resume(_ pause: UInt64) {
            #expect(pauses.withLock { $0.open.remove(pause) } != nil, "a pause was taken back twice")
        }
    }

    private func rest(of stream: ValueStream<Int>) async -> [Int] {
        var values: [Int] = []
        while let value = await stream.next(isolation: nil) { values.append(value) }
        return values
    }

    @Test
    func readingPausesWhenTheBufferIsFullAndResumesWhenItIsHalfEmpty() async {
        let reading = Reading()
        let stream: ValueStream<Int> = reading.stream(maximumCount: 4)
        for value in 0..<3 { stream.add(value) }
        #expect(!reading.isPaused)
        stream.add(3)
        #expect(reading.isPaused)
        // Values that were read already are delivered anyway.
        stream.add(4)
        #expect(reading.pauseCount == 1)
        for value in 0..<2 { #expect(await stream.next(isolation: nil) == value) }
        #expect(reading.isPaused)
        #expect(await stream.next(isolation: nil) == 2)
        #expect(!reading.isPaused)
    }

    @Test
    func theNewestValuesAreKept() async {
        let reading = Reading()
        let stream: ValueStream<Int> = reading.stream(.newest(2))
        for value in 0..<5 { stream.add(value) }
        stream.finish()
        #expect(await rest(of: stream) == [3, 4])
        #expect(reading.pauseCount == 0)
    }

    /// Of 100 bytes each, with room for four or five.
    @Test(arguments: [(.newest(9), false), (.waiting, true)] as [(StreamBuffering, Bool)])
    func theNewestBytesAreKept(_ buffering: StreamBuffering, _ isDatagram: Bool) async {
        let reading = Reading()
        let stream: ValueStream<Int> = reading.stream(buffering, maximumCount: 9, maximumByteCount: 700)
        for value in 0..<8 { stream.add(value, wireByteCount: 100, isDatagram: isDatagram) }
        // A single value may be longer.
        stream.add(8, wireByteCount: 1000, isDatagram: isDatagram)
        stream.finish()
        #expect(await rest(of: stream) == [8])
        #expect(reading.dropCount == 8)
        #expect(reading.pauseCount == 0)
    }

    @Test
    func datagramsGiveWayToNewerOnesAndNeverToTheStream() async {
        let reading = Reading()
        let stream: ValueStream<Int> = reading.stream(maximumCount: 4)
        for value in 0..<12 { stream.add(value, wireByteCount: 8, isDatagram: !value.isMultiple(of: 3)) }
        // Four of the stream, with pause, and the newest four datagrams.
        #expect(reading.pauseCount == 1)
        #expect(reading.dropCount == 4)
        stream.finish()
        #expect(await rest(of: stream) == [0, 3, 6, 7, 8, 9, 10, 11])
    }

    @Test
    func readingPausesWhenTheBytesAreTooManyAndResumesAtHalf() async {
        let reading = Reading()
        let stream: ValueStream<Int> = reading.stream(maximumCount: 100, maximumByteCount: 4000)
        for value in 0..<3 { stream.add(value, wireByteCount: 1000, isDatagram: false) }
        #expect(!reading.isPaused)
        stream.add(3, wireByteCount: 1000, isDatagram: false)
        #expect(reading.isPaused)
        for value in 0..<2 { #expect(await stream.next(isolation: nil) == value) }
        #expect(reading.isPaused)
        #expect(await stream.next(isolation: nil) == 2)
        #expect(!reading.isPaused)
    }

    @Test
    func aFinishedStreamDeliversItsBufferAndBlocksNobody() async {
        let reading = Reading()
        let stream: ValueStream<Int> = reading.stream()
        for value in 0..<2 { stream.add(value) }
        stream.finish()
        #expect(!reading.isPaused)
        stream.add(9)
        #expect(await rest(of: stream) == [0, 1])
    }

    @Test
    func aCancelledStreamGivesNothingMore() async {
        let reading = Reading()
        let ends = Atomic(0)
        let stream: ValueStream<Int> = reading.stream()
        stream.onTermination { _ = ends.add(1, ordering: .relaxed) }
        for value in 0..<2 { stream.add(value) }
        stream.cancel()
        stream.cancel()
        stream.finish()
        stream.add(9)
        #expect(await stream.next(isolation: nil) == nil)
        #expect(!reading.isPaused)
        #expect(ends.load(ordering: .relaxed) == 1)
        stream.onTermination { _ = ends.add(1, ordering: .relaxed) }
        #expect(ends.load(ordering: .relaxed) == 2)
    }

    @Test
    func theFirstEndingStandsUnlessValuesAreDiscarded() async {
        let stream: ValueStream<Int> = Reading().stream()
        #expect(stream.ending == nil)
        stream.add(0)
        stream.finish()
        #expect(stream.ending?.reason?.kind == .closedByPeer)
        #expect(await rest(of: stream) == [0])
        // As when the iterator is released after the loop.
        stream.cancel()
        #expect(stream.ending?.reason?.kind == .closedByPeer)

        let other: ValueStream<Int> = Reading().stream()
        other.add(0)
        other.finish()
        other.cancel()
        #expect(other.ending?.isCancelled == true)
    }

    @Test
    func tasksThatWaitGetAValueEach() async throws {
        let stream: ValueStream<Int> = Reading().stream()
        let tasks = (0..<3).map { _ in Task { await stream.next(isolation: nil) } }
        try await eventually { stream.state.withLockedValue { $0.consumers.count } == 3 }
        for value in 0..<2 { stream.add(value) }
        stream.finish()
        var values: Set<Int?> = []
        for task in tasks { values.insert(await task.value) }
        #expect(values == [0, 1, nil])
    }

    @Test
    func aTaskThatIsCancelledWhileItWaitsEndsTheStream() async throws {
        let stream: ValueStream<Int> = Reading().stream()
        let task = Task { await stream.next(isolation: nil) }
        try await eventually { stream.state.withLockedValue { $0.consumers.count } == 1 }
        task.cancel()
        #expect(await task.value == nil)
        stream.add(1)
        #expect(await stream.next(isolation: nil) == nil)
    }

    /// A consumer that empties the buffer just as it becomes full must see the pause that it has to undo.
    @Test
    func aConsumerThatArrivesMeanwhileUndoesAPause() async throws {
        let reading = Reading()
        let hasTaken = DispatchSemaphore(value: 0)
        let box = Locked<ValueStream<Int>?>(nil)
        let stream = ValueStream<Int>(
            .waiting, maximumCount: 2, maximumByteCount: 1_000_000,
            pause: {
                let stream = box.withLock { $0 }
                DispatchQueue.global().async {
                    for _ in 0..<2 { _ = stream?.take() }
                    hasTaken.signal()
                }
                // Time enough to take both, were it not for the lock.
                _ = hasTaken.wait(timeout: .now() + .milliseconds(50))
                return reading.pause()
            }, resume: { reading.resume($0) }, didDrop: { _ in })
        box.withLock { $0 = stream }
        for value in 0..<2 { stream.add(value) }
        try await eventually { !reading.isPaused }
        #expect(reading.pauseCount == 1)
        box.withLock { $0 = nil }
    }

    @Test(.backstop)
    func everyValueComesOnceAndInOrderWhileBothSidesRun() async {
        let reading = Reading()
        let count = 100_000
        let stream: ValueStream<Int> = reading.stream()
        DispatchQueue(label: "producer").async {
            for value in 0..<count { stream.add(value) }
            stream.finish()
        }
        #expect(await rest(of: stream) == Array(0..<count))
        #expect(!reading.isPaused)
    }
}

extension ValueStream {
    fileprivate func finish() { terminate(.disconnected(DisconnectReason(.closedByPeer, isExpected: true))) }
    fileprivate func add(_ value: Value) { add(value, wireByteCount: 8, isDatagram: false) }
}
