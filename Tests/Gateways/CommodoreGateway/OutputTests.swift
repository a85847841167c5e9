import Elemental
import NIOCore
import SerialLines
import Support
import Testing

@testable import CommodoreGateway

struct OutputTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func append(_ item: OutputQueue.Item, _ queue: inout OutputQueue) {
        let hasRoom = queue.append(item)
        #expect(hasRoom)
    }

    @Test(arguments: [0, -1, .nan, -Double.infinity])
    func aRateThatIsNoneIsTheSlowest(_ rate: Double) {
        var bucket = TokenBucket(capacity: 10, perSecond: rate)
        bucket.spend(20, at: .uptimeNanoseconds(0))
        #expect(bucket.time(for: 10) == .uptimeNanoseconds(20_000_000_001))
    }

    @Test(arguments: [50.0, 60, 120, 240])
    func aPaceIsKept(_ rate: Double) {
        var pace = Pace(lineRate: rate, readRate: 1000)
        var count = 0
        for millisecond in 0..<10_000 {
            let now = start + .milliseconds(Int64(millisecond))
            let room = pace.room(at: now)
            pace.note(room, at: now)
            count += room
            #expect(Double(count) <= Double(millisecond) / 1000 * rate + Double(Pace.lead) + 0.001)
        }
        #expect(Double(count) > 10 * rate - 2)
    }

    /// A line faster than the program: 255 bytes ahead of what it has read, and no more.
    @Test
    func theMachinesBufferIsNotOverrun() {
        var pace = Pace(lineRate: 240, readRate: 100)
        var unread = 0.0
        for millisecond in 0..<20_000 {
            unread = max(0, unread - 0.1)
            let now = start + .milliseconds(Int64(millisecond))
            let room = pace.room(at: now)
            pace.note(room, at: now)
            unread += Double(room)
            #expect(unread < 255.5)
        }
        #expect(unread > 200)
    }

    /// At 38,400 baud: what the line can carry, however much the machine has not read yet.
    @Test
    func aMachineThatPausesTheLineIsNotPaced() {
        var pace = Pace(lineRate: 3840, readRate: nil)
        var count = 0
        for millisecond in 0...1000 {
            let now = start + .milliseconds(Int64(millisecond))
            guard now >= pace.nextTime else { continue }
            let room = pace.room(at: now)
            #expect(room <= 38)
            pace.note(room, at: now)
            count += room
        }
        #expect((3840 - 38...3840 + 38).contains(count))
    }

    @Test
    func aShortRecordOnAQuietLineLeavesAtOnce() {
        var pace = Pace(lineRate: 120, readRate: 200)
        let room = pace.room(at: start)
        #expect(room >= 8)
    }

    @Test
    func answersGoBeforeDataButNotIntoARecord() {
        var queue = OutputQueue()
        func item(_ bytes: [UInt8]) -> OutputQueue.Item {
            OutputQueue.Item(bytes: bytes, time: start)
        }
        append(item([7, 8, 9]), &queue)
        append(item([10]), &queue)
        var bytes = queue.take(3, at: start)
        queue.append(answer: [1, 0])
        bytes += queue.take(100, at: start)
        #expect(bytes == [3, 3, 7, 8, 9, 1, 0, 3, 1, 10])
        #expect(queue.isEmpty)
        #expect(queue.counts.records == 3)
    }

    @Test
    func answersThatNobodyTakesAreBounded() {
        var queue = OutputQueue()
        for _ in 0..<100_000 { queue.append(answer: [1, 0]) }
        let bytes = queue.take(1_000_000, at: start)
        #expect(bytes.count == OutputQueue.maximumAnswerByteCount)
        #expect(queue.counts.unsent == 100_000 - UInt32(OutputQueue.maximumAnswerByteCount) / 2)
    }

    @Test
    func aNewerValueTakesThePlaceOfTheOlder() {
        var queue = OutputQueue()
        for round in 0..<2000 {
            for id in [1, 2, 3] as [Int8] {
                let item = OutputQueue.Item(
                    bytes: [UInt8(id), UInt8(round % 200)], latest: id, sharesRecord: true, time: start)
                append(item, &queue)
            }
            if round % 3 == 0 { _ = queue.take(5, at: start) }
        }
        #expect(queue.items.byteCount <= 6)
        let rest = queue.take(1000, at: start)
        #expect(rest.suffix(6).contains(UInt8(1999 % 200)))
    }

    @Test
    func waitingIsTimed() {
        var queue = OutputQueue()
        append(OutputQueue.Item(bytes: [1, 2], sharesRecord: true, time: start), &queue)
        _ = queue.take(3, at: start + .milliseconds(10))
        _ = queue.take(3, at: start + .milliseconds(30))
        #expect(queue.delay == .milliseconds(30))
    }

    @Test
    func ip232CarriesEveryByteAndTheWires() {
        func events(_ bytes: [UInt8]) -> [IP232.Event] {
            var decoder = IP232()
            return bytes.compactMap { decoder.receive($0) }
        }
        let all = (UInt8.min...UInt8.max).map { $0 }
        #expect(events(IP232.encode(all)) == all.map { .byte($0) })
        #expect(events([0xFF, 0x00]) == [.terminalReady(false)])
        #expect(events([0xFF, 0x01]) == [.terminalReady(true)])
        #expect(events([0xFF, 0x41, 0x42]) == [.byte(0x42)])
        #expect(IP232.wires(carrier: true) == [0xFF, 1])
    }
}
