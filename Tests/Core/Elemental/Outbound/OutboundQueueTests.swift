import ElementalWire
import Foundation
import NIOCore
import Testing

@testable import Elemental

/// Segments, and the queue of one transport.
struct OutboundQueueTests {
    private func queue(_ framing: MessageFraming = .stream, limit: Int = 1 << 20) -> OutboundQueue {
        OutboundQueue(framing, limit: limit)
    }

    private func append(_ value: [UInt8], _ id: Int8 = 1, to queue: inout OutboundQueue) {
        value.withUnsafeBytes { _ = queue.append(id: id, $0) }
    }

    private func bytes(_ segment: OutboundSegment) -> [UInt8] {
        var segment = segment
        var bytes: [UInt8] = []
        while !segment.isComplete { bytes += Array(buffer: segment.takePiece()) }
        return bytes
    }

    @Test
    func aMessageThatDoesNotFitBeginsAnotherSegment() throws {
        var queue = queue(.datagram(udpIdentifier: 7))
        append([UInt8](repeating: 1, count: 1000), to: &queue)
        append([UInt8](repeating: 2, count: 1400 - 1006 - 6), to: &queue)
        append([3], to: &queue)
        var sizes: [Int] = []
        while let segment = queue.takeSegment() { sizes.append(segment.byteCount) }
        #expect(sizes == [1400, 7])
    }

    @Test
    func nothingIsClearBeyondWhatTheLimitAllows() {
        var queue = queue(limit: 100)
        append([1], to: &queue)
        queue.clear(25)
        #expect(queue.hasClearSpace(for: 20))
        #expect(!queue.hasClearSpace(for: 21))
        queue.clear(1000)
        #expect(queue.hasClearSpace(for: 89))
        #expect(!queue.hasClearSpace(for: 90))
    }

    @Test
    func aMessageLongerThanASegmentTravelsAlone() throws {
        var queue = queue(.datagram(udpIdentifier: 7))
        append([1], to: &queue)
        append([UInt8](repeating: 2, count: 3000), to: &queue)
        append([3], to: &queue)
        var sizes: [Int] = []
        while let segment = queue.takeSegment() { sizes.append(segment.byteCount) }
        #expect(sizes == [7, 3006, 7])
    }

    @Test
    func messagesLeaveInOrderWhateverTheirLength() {
        var queue = queue()
        var expected: [OutboundMessage] = []
        for number in 0..<3000 {
            let value = [UInt8](repeating: UInt8(number % 251), count: number % 97)
            append(value, Int8(number % 5), to: &queue)
            expected.append(OutboundMessage(Int8(number % 5), value))
        }
        #expect(queue.messageCount == 3000)
        #expect(queue.byteCount == expected.reduce(0) { $0 + 5 + $1.value.count })
        var written: [UInt8] = []
        while let segment = queue.takeSegment() {
            #expect(segment.byteCount <= 64 * 1024)
            written += bytes(segment)
        }
        #expect(OutboundMessage.all(in: written) == expected)
        #expect(queue.isEmpty)
        #expect(queue.byteCount == 0)
        #expect(queue.takenMessageCount == 3000)
    }

    @Test
    func theStorageOfAWrittenSegmentServesAgainWithoutSpoilingIt() throws {
        var queue = queue()
        for round in 0..<20 {
            let value = [UInt8](repeating: UInt8(round), count: 200)
            append(value, to: &queue)
            let segment = try unwrap(queue.takeSegment())
            // The next message is written while the segment is still under way.
            append([255], to: &queue)
            #expect(OutboundMessage.all(in: bytes(segment)) == [OutboundMessage(1, value)])
            let next = try unwrap(queue.takeSegment())
            #expect(OutboundMessage.all(in: bytes(next)) == [OutboundMessage(1, [255])])
        }
    }

    @Test
    func theLimitHoldsAndAnEmptyQueueTakesAnything() {
        var queue = queue(limit: 100)
        #expect(queue.hasRoom(for: 5000))
        append([UInt8](repeating: 0, count: 40), to: &queue)
        #expect(queue.hasRoom(for: 50))
        #expect(!queue.hasRoom(for: 51))
        append([UInt8](repeating: 0, count: 50), to: &queue)
        #expect(queue.byteCount == 100)
        #expect(!queue.hasRoom(for: 0))
        _ = queue.takeSegment()
        #expect(queue.hasRoom(for: 5000))
    }

    @Test
    func aLongValueFollowsItsHeader() throws {
        var queue = queue()
        append([1], to: &queue)
        let long = [UInt8](repeating: 9, count: 20_000)
        queue.append(id: 2, long: Data(long))
        append([3], to: &queue)
        var written: [UInt8] = []
        var messages: [Int] = []
        while let segment = queue.takeSegment() {
            messages.append(segment.messageCount)
            written += bytes(segment)
        }
        #expect(messages == [2, 1])
        #expect(
            OutboundMessage.all(in: written)
                == [OutboundMessage(1, [1]), OutboundMessage(2, long), OutboundMessage(1, [3])])
    }

    @Test(arguments: [1, 2, 3, 7, 100, 20_003])
    func aPartialWriteIsResumedWhereItStopped(step: Int) throws {
        var queue = queue()
        append([UInt8](0..<100), to: &queue)
        queue.append(id: 2, long: Data((0..<20_000).map { UInt8($0 % 249) }))
        let whole = try unwrap(queue.takeSegment())
        let expected = bytes(whole)
        var segment = whole
        var written: [UInt8] = []
        while !segment.isComplete {
            let count = segment.write { first, second in
                #expect(!first.isEmpty)
                let taken = Array((Array(first) + Array(second)).prefix(step))
                written += taken
                return taken.count
            }
            #expect(count > 0)
            // Every other time the channel takes a piece instead.
            if written.count.isMultiple(of: 2), !segment.isComplete { written += Array(buffer: segment.takePiece()) }
        }
        #expect(written == expected)
    }

    @Test
    func latestValuesComeLastAndOnce() throws {
        var queue = queue()
        #expect([7].withUnsafeBytes { !queue.setLatest(3, $0) })
        append([1], to: &queue)
        #expect([8, 8].withUnsafeBytes { queue.setLatest(3, $0) })
        append([2], to: &queue)
        var written: [UInt8] = []
        while let segment = queue.takeSegment() { written += bytes(segment) }
        let value = [8, 8].withUnsafeBytes { Array($0) }
        #expect(
            OutboundMessage.all(in: written)
                == [OutboundMessage(1, [1]), OutboundMessage(1, [2]), OutboundMessage(3, value)])
        #expect(queue.isEmpty)
        #expect(queue.byteCount == 0)
    }
}
