import ElementalWire
import Foundation
import NIOCore
import Testing

@testable import Elemental

/// Elements, and what a test reads of what an ``Outbound`` has written.
enum OutboundFixture {
    typealias Machine = Outbound<String>

    static let plain = define(1)
    static let other = define(2)
    static let latest = define(3, latest: true)
    static let datagram = define(4, .udp)
    static let latestDatagram = define(5, .udp, latest: true)
    static let otherLatest = define(6, latest: true)

    private static func define(_ id: Int, _ transport: Transport = .tcp, latest: Bool = false) -> ElementDefinition {
        do {
            return try ElementDefinition(
                id: id, name: "element \(id)", type: .data, transport: transport, latest: latest)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// One whose peer takes everything, with datagrams.
    static func opened(limit: Int = 8 * 1024 * 1024, ready: Int = 256 * 1024, pieces: Bool = true) -> Machine {
        var machine = Machine(limit: limit, readyByteCount: ready)
        machine.peer.emptyValues = true
        machine.peer.pieces = pieces
        machine.setDatagramState(.open(udpIdentifier: 7))
        machine.open("link", hasHello: true)
        return machine
    }

    static let reason = DisconnectReason(.closedByPeer, isExpected: false)
}

/// `#require` for the result of a mutating call.
func unwrap<Value>(_ value: Value?) throws -> Value { try #require(value) }

extension Outbound {
    /// Sends a value, as a device does; the test does not expect a refusal.
    @discardableResult
    mutating func send(_ element: ElementDefinition, _ value: [UInt8]) throws -> Link? {
        if sendClear(element, value) { return nil }
        return try value.withUnsafeBytes { try append(element, $0) }
    }

    /// Queues a value if there is nothing to decide.
    mutating func sendClear(_ element: ElementDefinition, _ value: [UInt8]) -> Bool {
        value.withUnsafeBytes { appendClear(element, $0) }
    }

    mutating func writeAll() -> [OutboundMessage] {
        var bytes: [UInt8] = []
        while case .write(var segment, _) = nextStreamStep(written: 0) {
            while !segment.isComplete { bytes += Array(buffer: segment.takePiece()) }
        }
        return OutboundMessage.all(in: bytes)
    }

    /// All that is queued, for a peer that acknowledges each of the pieces that it can get now.
    mutating func writeAllAcknowledged() -> [OutboundMessage] {
        var all: [OutboundMessage] = []
        var taken: UInt32 = 0
        while true {
            let written = writeAll()
            if written.isEmpty { return all }
            all += written
            for message in written where message.id == SystemElement.piece.rawValue {
                taken += UInt32(message.value.count - Piece.headerByteCount)
            }
            #expect(pieces?.acknowledge(taken) != nil)
        }
    }

    mutating func writeAllDatagrams() -> [[OutboundMessage]] {
        var all: [[OutboundMessage]] = []
        while let segment = nextDatagram() { all.append(OutboundMessage.all(inDatagram: segment.buffer)) }
        return all
    }
}

/// A message as it was written.
struct OutboundMessage: Equatable, CustomStringConvertible {
    var id: Int8
    var value: [UInt8]

    init(_ id: Int8, _ value: [UInt8]) {
        self.id = id
        self.value = value
    }

    /// The messages of a stream; what is left of an incomplete one stays in `bytes`.
    static func take(from bytes: inout [UInt8]) -> [OutboundMessage] {
        var all: [OutboundMessage] = []
        var start = 0
        while bytes.count - start >= Envelope.streamByteCount {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[start + 1 + $1]) << (8 * $1) }
            let end = start + Envelope.streamByteCount + length
            guard end <= bytes.count else { break }
            all.append(
                OutboundMessage(
                    Int8(bitPattern: bytes[start]), Array(bytes[(start + Envelope.streamByteCount)..<end])))
            start = end
        }
        bytes.removeFirst(start)
        return all
    }

    static func all(in bytes: [UInt8]) -> [OutboundMessage] {
        var rest = bytes
        defer { #expect(rest.isEmpty, "\(rest.count) bytes are no message") }
        return take(from: &rest)
    }

    static func all(inDatagram buffer: ByteBuffer) -> [OutboundMessage] {
        var all: [OutboundMessage] = []
        let result = buffer.withUnsafeReadableBytes { bytes in
            DatagramDecoder.decode(bytes) { id, identifier, value in
                #expect(identifier == 7)
                all.append(OutboundMessage(id, Array(value)))
            }
        }
        #expect(result == .complete)
        return all
    }

    var description: String { "\(id): \(value.count > 8 ? "\(value.count) bytes" : "\(value)")" }
}

extension IdentifierSet {
    init(_ id: Int8) {
        self.init()
        insert(id)
    }
}
