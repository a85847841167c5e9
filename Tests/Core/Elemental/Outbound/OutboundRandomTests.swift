import ElementalWire
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import Elemental

/// Random sends, partial writes, full sockets, pauses and lost connections against a ledger: nothing is lost, duplicated,
/// out of order or stuck. A failure can be reproduced from its seed.
struct OutboundRandomTests {
    @Test(arguments: [UInt64](1...(Depth.isAll ? 40 : 10)))
    func theLedgerHolds(seed: UInt64) throws {
        var run = OutboundRun(seed: seed)
        for _ in 0..<1500 { try run.step() }
        try run.drain()
        run.check()
    }
}

/// An owner of an ``Outbound`` as a session is one, and the other end.
private struct OutboundRun: ~Copyable {
    private var random: SeededGenerator
    /// Whether mostly little is queued.
    private let isQuiet: Bool
    private var machine: Outbound<Int>
    private var connection = 1
    // What will make the owner flush.
    private var isWoken = false
    private var isTimed = false
    private var retriesDatagrams = false
    /// What the channel has not written yet.
    private var held: [UInt8]?
    private var outgoing: OutboundSegment?
    /// A claim of a thread that writes what it has queued, the connection that it has, and what it has taken.
    private var claim: Claim?
    /// The same for the datagrams.
    private var datagramClaim: Claim?
    private var reader = OutboundReader()
    // The ledger, by element.
    private var number: UInt32 = 0
    private var sent: [Int8: [UInt32]] = [:]
    /// Messages in segments that were being written when a connection was lost: lost for the sender, and perhaps read.
    private var doubtful = 0
    /// Messages that the channel held when a connection was lost: sent for the sender, and perhaps not read.
    private var heldBack = 0
    private var heldCount = 0
    /// For each element, how many of `sent` belong to connections that were lost.
    private var closedCount: [Int8: Int] = [:]
    private var refusals: Set<String> = []

    private struct Claim {
        let number: UInt64
        let connection: Int
        var segment: OutboundSegment?
    }

    private static let elements = [
        OutboundFixture.plain, OutboundFixture.other, OutboundFixture.latest, OutboundFixture.datagram,
        OutboundFixture.latestDatagram, OutboundFixture.otherLatest,
    ]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        isQuiet = seed % 2 == 0
        machine = OutboundRun.machine(seed)
    }

    private static func machine(_ seed: UInt64) -> Outbound<Int> {
        let limit = [700, 20_000, 200_000, 1 << 20][Int(seed % 4)]
        var machine = Outbound<Int>(limit: limit, readyByteCount: limit / 2)
        machine.peer.emptyValues = true
        machine.peer.pieces = seed % 3 != 0
        machine.setDatagramState(.open(udpIdentifier: 7))
        machine.open(1, hasHello: true)
        return machine
    }

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<(isQuiet ? 30 : 50): send(small: isQuiet)
        case 30..<65: if isWoken { flush() }
        case 65..<70: if isTimed { timeIsUp() }
        case 70..<76: writeHeld()
        case 76..<78: writeDirectly()
        case 78..<80: sendDatagramDirectly()
        case 80..<84: retryDatagrams()
        case 84..<92: acknowledge()
        case 92..<94: pause()
        case 94..<96: ping()
        case 96:
            for _ in 0..<3 {
                writeDirectly()
                sendDatagramDirectly()
            }
        case 97: if Int.random(in: 0..<5, using: &random) == 0 { reconnect() }
        default: for _ in 0..<(isQuiet ? 3 : 300) { send(small: true) }
        }
    }

    private mutating func send(small: Bool = false) {
        guard let element = Self.elements.randomElement(using: &random) else { return }
        number += 1
        let largest = small ? 8 : [8, 8, 100, 3000, 20_000, 70_000, 300_000].randomElement(using: &random) ?? 8
        let length = max(4, Int.random(in: 4...largest, using: &random))
        var value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
        withUnsafeBytes(of: number.littleEndian) { value.replaceSubrange(0..<4, with: $0) }
        do {
            let link: Int?
            if length >= 16 * 1024, element.takesLongValues {
                link = try machine.append(element, long: Data(value))
            } else {
                link = try machine.send(element, value)
            }
            if let link {
                #expect(link == connection)
                if element.transport == .tcp, length < 16 * 1024, claim == nil,
                    Int.random(in: 0..<3, using: &random) == 0
                {
                    claim = machine.claim(.tcp).map { Claim(number: $0, connection: connection) }
                    if claim == nil { isWoken = true }
                } else if element.transport == .udp, datagramClaim == nil, Int.random(in: 0..<3, using: &random) == 0 {
                    datagramClaim = machine.claim(.udp).map { Claim(number: $0, connection: connection) }
                } else {
                    isWoken = true
                }
            }
            sent[element.id, default: []].append(number)
        } catch {
            // "queueFull(waiting: …" and the like.
            refusals.insert(String("\(error)".prefix { $0 != "(" }))
        }
    }

    private mutating func flush() {
        isWoken = false
        flushStream()
        while let segment = machine.nextDatagram() {
            if Int.random(in: 0..<4, using: &random) == 0 {
                machine.returnDatagram(segment)
                retriesDatagrams = true
            } else {
                for message in OutboundMessage.all(inDatagram: segment.buffer) { reader.read(message) }
            }
        }
    }

    private mutating func flushStream() {
        if outgoing != nil, machine.stream.flush == .blocked { return }
        var written = 0
        var spare: ByteBuffer?
        for _ in 0..<8 {
            if outgoing == nil {
                switch machine.nextStreamStep(written: written, spare: spare.take()) {
                case .write(let segment, _):
                    written += segment.messageCount
                    outgoing = segment
                case .gather:
                    isTimed = true
                    return
                case .wait:
                    return
                }
            }
            let most = takesAll() ? Int.max : Int.random(in: 0...100_000, using: &random)
            var bytes: [UInt8] = []
            _ = outgoing?.write { first, second in
                bytes = Array((Array(first) + Array(second)).prefix(most))
                return bytes.count
            }
            reader.read(bytes)
            if outgoing?.isComplete == true {
                spare = outgoing?.buffer
                outgoing = nil
            } else {
                held = outgoing.map { _ in [] }
                if let piece = outgoing?.takePiece() { held = Array(buffer: piece) }
                heldCount = outgoing?.messageCount ?? 0
                if outgoing?.isComplete == true { outgoing = nil }
                machine.stream.flush = .blocked
                return
            }
        }
        machine.stream.flush.schedule()
        isWoken = true
    }

    private mutating func takesAll() -> Bool { Int.random(in: 0..<(isQuiet ? 16 : 2), using: &random) != 0 }

    /// A step of the thread that writes what it has queued.
    private mutating func writeDirectly() {
        guard var current = claim.take() else { return }
        if current.segment == nil, let segment = machine.takeDirectly(current.number, over: .tcp) {
            #expect(current.connection == connection)
            current.segment = segment
            return claim = current
        }
        let most = Bool.random(using: &random) ? Int.max : Int.random(in: 0...100, using: &random)
        _ = current.segment?.write { first, second in
            // The socket is closed with its connection.
            guard current.connection == connection else { return 0 }
            let bytes = Array((Array(first) + Array(second)).prefix(most))
            reader.read(bytes)
            return bytes.count
        }
        if machine.endDirectWrite(current.number, current.segment, over: .tcp) {
            #expect(current.connection == connection)
            isWoken = true
        }
    }

    /// A step of the thread that sends a datagram.
    private mutating func sendDatagramDirectly() {
        guard var current = datagramClaim.take() else { return }
        if current.segment == nil, let segment = machine.takeDirectly(current.number, over: .udp) {
            #expect(current.connection == connection)
            current.segment = segment
            return datagramClaim = current
        }
        // The system may have no room, and the socket is closed with its connection.
        if let segment = current.segment, current.connection == connection, Bool.random(using: &random) {
            for message in OutboundMessage.all(inDatagram: segment.buffer) { reader.read(message) }
            current.segment?.write { first, _ in first.count }
        }
        if machine.endDirectWrite(current.number, current.segment, over: .udp) {
            #expect(current.connection == connection)
            isWoken = true
        }
    }

    private mutating func timeIsUp() {
        isTimed = false
        flush()
    }

    private mutating func writeHeld() {
        guard let bytes = held.take() else { return }
        reader.read(bytes)
        machine.stream.flush.unblock()
        flush()
    }

    private mutating func retryDatagrams() {
        guard retriesDatagrams else { return }
        retriesDatagrams = false
        machine.datagrams.flush.unblock()
        flush()
    }

    /// The other end acknowledges what it has read; each read ends in a flush.
    private mutating func acknowledge() {
        guard reader.owesAck, !machine.isPaused else { return }
        #expect(machine.pieces?.acknowledge(reader.acknowledge()) != nil)
        flush()
    }

    private mutating func pause() {
        machine.isPaused.toggle()
        isWoken = true
    }

    private mutating func ping() {
        do throws(SendRefusal) {
            let transport: Transport = Bool.random(using: &random) ? .tcp : .udp
            if try machine.appendRequest(.ping, [1, 2, 3, 4, 5, 6, 7, 8], over: transport) != nil { isWoken = true }
            reader.unreadPings += 1
        } catch {
            Issue.record("\(error)")
        }
    }

    /// The connection is lost; some values are sent meanwhile.
    private mutating func reconnect() {
        machine.close(OutboundFixture.reason, willReconnect: true)
        if Bool.random(using: &random) { flush() }
        let unwritten = outgoing?.valueCount ?? 0
        doubtful +=
            unwritten + machine.stream.claimedValueCount + (machine.stream.restMessageCount ?? 0)
            + machine.datagrams.claimedValueCount
        if held != nil, outgoing == nil { heldBack += heldCount }
        outgoing = nil
        held = nil
        isWoken = false
        isTimed = false
        retriesDatagrams = false
        machine.discardQueues(unwritten: unwritten)
        for _ in 0..<5 { send() }
        connection += 1
        reader.startAnew()
        machine.setDatagramState(.open(udpIdentifier: 7))
        for (id, numbers) in sent where !Self.isLatest(id) { closedCount[id] = numbers.count }
        machine.open(connection, hasHello: true)
        // A session that is ready flushes at the end of the read that made it so.
        flush()
    }

    /// All that is on its way arrives, by nothing but what the machine asked for.
    mutating func drain() throws {
        if machine.isPaused { pause() }
        for _ in 0..<100_000 {
            if claim != nil {
                writeDirectly()
            } else if datagramClaim != nil {
                sendDatagramDirectly()
            } else if isWoken {
                flush()
            } else if isTimed {
                timeIsUp()
            } else if held != nil {
                writeHeld()
            } else if retriesDatagrams {
                retryDatagrams()
            } else if reader.owesAck {
                acknowledge()
            } else {
                return
            }
        }
        Issue.record("it does not come to an end")
    }

    func check() {
        #expect(machine.isMet(.nothingUnsent), "stuck: \(machine.stream.flush), \(machine.messagesWaiting) wait")
        #expect(machine.messagesWaiting == 0)
        #expect(machine.keptCount == 0)
        #expect(machine.stream.byteCount == 0)
        #expect(machine.datagrams.byteCount == 0)
        #expect(machine.pieces?.byteCount ?? 0 == 0)
        #expect(machine.counts.messagesSent == sent.values.reduce(0) { $0 + $1.count })
        // Every value was read, replaced or counted as lost; of those that were being written when a connection was
        // lost it cannot be known.
        let accounted = reader.receivedCount + machine.counts.messagesReplaced + machine.counts.messagesLost
        #expect((-heldBack...doubtful).contains(accounted - machine.counts.messagesSent))
        for (id, numbers) in sent {
            let read = reader.received[id] ?? []
            #expect(zip(read, read.dropFirst()).allSatisfy { $0 < $1 }, "element \(id) out of order or doubled")
            #expect(Set(read).isSubset(of: numbers))
            if Self.isLatest(id) {
                #expect(read.last == numbers.last, "the newest value of element \(id) is missing")
            } else {
                // All of the connection that was not lost.
                let closed = closedCount[id] ?? 0
                let last = closed == 0 ? 0 : numbers[closed - 1]
                #expect(read.filter { $0 > last } == Array(numbers.dropFirst(closed)), "element \(id) lost values")
            }
        }
        #expect(refusals.isSubset(of: ["queueFull", "reconnecting", "datagramTooLarge"]), "\(refusals)")
    }

    private static func isLatest(_ id: Int8) -> Bool { elements.contains { $0.id == id && $0.latest } }
}
