import NIOCore

@testable import CommodoreGateway

/// The public chat program as seen from the line: it reads one byte per frame from the KERNAL's ring of 255.
struct ChatProgram {
    enum Phase: Equatable {
        case draining(framesLeft: Int)
        case startingWiFi, connecting, shakingHands, chatting
        /// The border is red; it does nothing any more.
        case ended(String)
    }

    private(set) var phase = Phase.draining(framesLeft: 31)
    /// The lines on its screen: the sender and the text as bytes.
    private(set) var shown: [[UInt8]] = []
    private(set) var lostByteCount = 0
    private(set) var longestUnread = 0
    private var ring: [UInt8] = []
    private var record: [UInt8] = []
    /// What it sends, taken by the bench.
    var sent = ModemCommand.stopWiFi.bytes

    static let handshake = Array(#"{"protocol":"messagepack","version":1}"#.utf8) + [0x1E]

    mutating func receive(_ byte: UInt8) {
        if ring.count < 255 { ring.append(byte) } else { lostByteCount += 1 }
        longestUnread = max(longestUnread, ring.count)
    }

    /// A frame: one byte is read and acted upon.
    mutating func frame() {
        if case .ended = phase { return }
        let byte = ring.isEmpty ? nil : ring.removeFirst()
        if case .draining(let left) = phase {
            // The last of the frames only sends, which leaves 30 for reading.
            phase = left > 1 ? .draining(framesLeft: left - 1) : .startingWiFi
            if left == 1 {
                sent += ModemCommand.startWiFi.bytes
                if let byte { ring.insert(byte, at: 0) }
            }
            return
        }
        guard let byte else { return }
        record.append(byte)
        guard record.count >= 2, record.count == 2 + Int(record[1]) else { return }
        defer { record = [] }
        take(record[0], Array(record[2...]))
    }

    private mutating func take(_ code: UInt8, _ bytes: [UInt8]) {
        switch code {
        case 0: return
        case 1: advance()
        case 4 where bytes.first == UInt8(ascii: "C"): advance()
        case 3: data(bytes)
        default: phase = .ended("code \(code)")
        }
    }

    /// OK and "Connected" are one and the same event.
    private mutating func advance() {
        switch phase {
        case .startingWiFi:
            phase = .connecting
            sent += ModemCommand.startWebSocket(Array("ws://192.168.86.250:5000/chat".utf8)).bytes
        case .connecting:
            phase = .shakingHands
            sent += ModemCommand.send(Self.handshake).bytes
        default: return
        }
    }

    private mutating func data(_ bytes: [UInt8]) {
        if phase != .chatting {
            phase = bytes.count > 1 && bytes[1] == UInt8(ascii: "}") ? .chatting : .ended("handshake")
            return
        }
        guard bytes.count >= 3, bytes.count <= 254, bytes[0] < 128, bytes[2] == 1 else { return }
        shown.append(Array(bytes[0x11...]))
    }

    mutating func say(_ text: String, as name: String) {
        let (name, text) = (Array(name.utf8), Array(text.utf8))
        var body: [UInt8] = [0x96, 0x01, 0x80, 0xA1, 0xC0, 0xA9]
        body += Array("Broadcast".utf8)
        body += [0x92, 0xA0 | UInt8(name.count)] + name
        body += [0xD9, UInt8(text.count)] + text + [0x90]
        sent += ModemCommand.send([UInt8(body.count)] + body).bytes
    }
}

/// The program on a line of 1200 baud behind a modem.
final class ChatBench {
    let bench = ModemBench()
    var program = ChatProgram()
    private let framesPerSecond: Double
    /// Bytes on the wire to the machine, and the part of the next one that has passed.
    private var wire: [UInt8] = []
    private var passed = 0.0

    init(framesPerSecond: Double) { self.framesPerSecond = framesPerSecond }

    /// Puts bytes on the wire that the modem did not send.
    func addNoise(_ bytes: [UInt8]) { wire += bytes }

    func run(frames: Int, until condition: (ChatBench) -> Bool = { _ in false }) {
        for _ in 0..<frames where !condition(self) {
            wire += bench.pass(.nanoseconds(Int64(1e9 / framesPerSecond)))
            passed += 120 / framesPerSecond
            while passed >= 1 {
                passed -= 1
                if !wire.isEmpty { program.receive(wire.removeFirst()) }
            }
            program.frame()
            if !program.sent.isEmpty { bench.send(program.sent) }
            program.sent = []
        }
    }
}
