import Elemental
import Foundation
import PETSCII
import TestSupport
import Testing

@testable import CommodoreGateway

/// Programs that speak in elements.
struct NativeTests {
    private static let connected = ModemResult.connected.bytes

    @Test
    func aProgramConnectsByItsAddress() {
        let bench = ModemBench()
        #expect(bench.answer(to: .stopWiFi) == [1, 0])
        #expect(bench.answer(to: .startWiFi) == [1, 0])
        #expect(bench.answer(to: .startWebSocket(Array("elemental:den".utf8))) == Self.connected)
        #expect(bench.values(of: CommodoreElements.program) == ["den"])
        // Up already: OK, and nothing else.
        #expect(bench.answer(to: .startWebSocket(Array("elemental:den".utf8))) == [1, 0])
        // To another place it is another connection.
        #expect(bench.answer(to: .startWebSocket(Array("elemental:other".utf8))) == Self.connected)
        #expect(bench.programs == ["den", "-den", "other"])
        #expect(bench.answer(to: .stopWiFi) == [1, 0])
        #expect(bench.values(of: CommodoreElements.program).last == "")
    }

    @Test(arguments: [
        "", "chat", "http://a/b", "ws://", "ws:///x", "ws://host", "ws://host:0/x", "ws://host:70000/x", "elemental:",
        "ws://a b/c",
    ])
    func malformedAddressesAreRefused(_ address: String) {
        let bench = ModemBench()
        #expect(bench.answer(to: .startWiFi) == [1, 0])
        #expect(
            bench.answer(to: .startWebSocket(Array(address.utf8))) == [2, 13] + Array("Malformed URL".utf8))
    }

    @Test
    func theFirmwaresErrorsAreKept() {
        let bench = ModemBench()
        #expect(bench.answer(to: .send([1, 2])) == [2, 11] + Array("Send failed".utf8))
        #expect(bench.answer(to: .setSSID(Array("net".utf8))) == [1, 0])
        #expect(bench.answer(to: .setPassword(Array("secret".utf8))) == [1, 0])
        #expect(bench.answer(to: .startWiFi) == [1, 0])
        #expect(bench.answer(to: .setSSID([])) == [1, 0])
        #expect(bench.answer(to: .startWiFi) == [2, 10] + Array("Empty SSID".utf8))
        bench.send([7, 1, 0x40])
        #expect(bench.pass(.seconds(1)) == [2, 15] + Array("Invalid command".utf8))
    }

    @Test
    func valuesGoToTheMachineAsEnvelopes() {
        let bench = ModemBench()
        bench.connect()
        #expect(bench.take(6, CommodoreElements.border) == nil)
        #expect(bench.pass(.seconds(1)) == [3, 6] + envelope(1, [6]))
        #expect(bench.take("Hi Ä\n", CommodoreElements.print) == nil)
        #expect(bench.pass(.seconds(1)) == [3, 11] + envelope(3, [0xC8, 0x49, 0x20, 0xC1, 0x45, 0x0D]))
        #expect(bench.take(1000, CommodoreElements.frequencies[2]) == nil)
        #expect(bench.pass(.seconds(1)) == [3, 7] + envelope(9, [0xE8, 0x03]))
    }

    @Test
    func valuesOfTheMachineAreTold() {
        let bench = ModemBench()
        bench.connect()
        let message = envelope(4, [0xC8, 0x49]) + envelope(5, [17]) + envelope(18, [1, 2, 3, 0])
        #expect(bench.answer(to: .send(message)) == [1, 0])
        #expect(bench.values(of: CommodoreElements.line) == ["Hi"])
        #expect(bench.values(of: CommodoreElements.joystick1) == [17])
        #expect(bench.values(of: CommodoreElements.jiffies) == [0x030201])
    }

    @Test(arguments: [
        [], [4], [4, 2, 0, 0, 0, 1], [4, 0, 0, 0, 1, 1], envelope(3, [1]), envelope(99, [1]), envelope(30, [1]),
        envelope(5, [1, 2]), envelope(5, [200]), envelope(4, [0x41]) + [5], envelope(-2, [1]), envelope(19, [1, 2, 3]),
    ])
    func aRecordThatIsWrongIsAnsweredAndNothingOfItIsTold(_ message: [UInt8]) {
        let bench = ModemBench()
        bench.connect()
        let count = bench.published.count
        #expect(bench.answer(to: .send(message)).first == 2)
        #expect(bench.published.count == count)
    }

    @Test
    func longTextsAreSplitAndOtherLongValuesRefused() throws {
        let bench = ModemBench(allowsMemory: true)
        bench.connect()
        let text = String(repeating: "abcdefghij", count: 60)
        #expect(bench.take(text, CommodoreElements.print) == nil)
        let parts = try #require(records(bench.pass(.seconds(20))))
        #expect(parts.map(\.count) == [257, 257, 107])
        let printed = parts.flatMap { $0.dropFirst(7) }
        #expect(String(petscii: printed, in: .lowerCase) == text)
        // Memory goes in pieces, each to its own place.
        let bytes = (0..<500).map { UInt8(truncatingIfNeeded: $0) }
        #expect(bench.take(Data([0x00, 0xC0] + bytes), CommodoreElements.memoryWrite) == nil)
        let pieces = try #require(records(bench.pass(.seconds(20))))
        #expect(pieces.map { Array($0[7..<9]) } == [[0x00, 0xC0], [0xF8, 0xC0], [0xF0, 0xC1]])
        #expect(pieces.flatMap { $0.dropFirst(9) } == bytes)
        for wrong in [[], [0], [0, 0], [0xFF, 0xFF, 1, 2]] as [[UInt8]] {
            #expect(bench.take(Data(wrong), CommodoreElements.memoryWrite) != nil)
        }
        for wrong in [[0, 0], [0, 0, 0], [0, 0, 249], [0, 0, 1, 1]] as [[UInt8]] {
            #expect(bench.take(Data(wrong), CommodoreElements.memoryRead) != nil)
        }
        #expect(bench.pass(.seconds(1)).isEmpty)
    }

    @Test
    func aSliderBuildsNoBacklog() throws {
        let bench = ModemBench()
        bench.connect()
        var bytes: [UInt8] = []
        for step in 0..<3000 {
            bench.take(UInt16(step % 512), CommodoreElements.spriteX)
            bench.take(UInt8(step % 16), CommodoreElements.border)
            if step % 100 == 0 { bench.take("\(step / 100) ", CommodoreElements.print) }
            bytes += bench.pass(.milliseconds(2))
            #expect(bench.modem.queue.items.byteCount < 60)
        }
        bytes += bench.pass(.seconds(2))
        let all = try #require(records(bytes))
        var envelopes: [(id: UInt8, value: [UInt8])] = []
        for record in all {
            #expect(record[0] == 3)
            var rest = record[2...]
            while let id = rest.popFirst() {
                let count = Int(rest.removeFirst())
                rest = rest.dropFirst(3)
                envelopes.append((id, Array(rest.prefix(count))))
                rest = rest.dropFirst(count)
            }
        }
        #expect(envelopes.last { $0.id == 16 }?.value == [UInt8(2999 % 512 & 0xFF), UInt8(2999 % 512 >> 8)])
        #expect(envelopes.last { $0.id == 1 }?.value == [UInt8(2999 % 16)])
        let printed = envelopes.filter { $0.id == 3 }.flatMap(\.value)
        #expect(String(petscii: printed, in: .lowerCase) == (0..<30).map { "\($0) " }.joined())
        // 8 seconds of 120 bytes.
        #expect(bytes.count <= 8 * 120 + Pace.lead)
    }

    @Test
    func aProgramGetsTheValuesSetBeforeItConnected() {
        let bench = ModemBench()
        #expect(bench.take(6, CommodoreElements.border) == nil)
        #expect(bench.take("lost", CommodoreElements.print) != nil)
        bench.send(.startWebSocket(Array("elemental:x".utf8)))
        #expect(bench.pass(.seconds(2)) == Self.connected + [3, 6] + envelope(1, [6]))
        // The next one too, at once when it speaks.
        bench.send(.stopWiFi)
        bench.send(.startWebSocket(Array("elemental:x".utf8)))
        bench.send(.send(envelope(5, [0])))
        let expected: [UInt8] = [1, 0] + Self.connected + [1, 0, 3, 6] + envelope(1, [6])
        #expect(bench.pass(.milliseconds(450)) == expected)
    }

    // MARK: The compact catalogue

    private static let catalogue: [UInt8] =
        [1]
        // speed, UInt8, latest, told and sent, 0 to 9, "m/s"
        + [1, 2, 0b11_1110, 5, 0x53, 0x50, 0x45, 0x45, 0x44, 0, 9, 3, 0x4D, 0x2F, 0x53]
        // Text, String, sent
        + [2, 11, 0b1000, 4, 0xD4, 0x45, 0x58, 0x54]

    @Test
    func aProgramDeclaresItsOwnElements() throws {
        let bench = ModemBench()
        bench.take(6, CommodoreElements.border)
        bench.send(.startWebSocket(Array("elemental:car".utf8)))
        _ = bench.pass(.milliseconds(100))
        #expect(bench.answer(to: .send(envelope(-10, Self.catalogue) + envelope(1, [3]))).suffix(2) == [1, 0])
        let elements = try #require(bench.elements)
        #expect(elements.map(\.name) == ["speed", "Text"])
        #expect(elements[0].range == 0...9 && elements[0].unit == "m/s" && elements[0].latest)
        #expect(elements[0].access == .readWrite && elements[1].access == .write)
        let speed = try Element<UInt8>(elements[0])
        #expect(bench.values(of: speed) == [3])
        #expect(bench.take(5, speed) == nil)
        #expect(bench.pass(.seconds(1)) == [3, 6] + envelope(1, [5]))
        #expect(bench.answer(to: .send(envelope(1, [10]))).first == 2)
        // Later it comes too late.
        #expect(bench.answer(to: .send(envelope(-10, Self.catalogue))).first == 2)
        // A program that declares none has the standard elements again.
        bench.send(.stopWiFi)
        bench.send(.startWebSocket(Array("elemental:plain".utf8)))
        #expect(bench.answer(to: .send(envelope(5, [1]))).suffix(2) == [1, 0])
        #expect(bench.elements == CommodoreElements.machine(allowsMemory: false).map(\.definition))
    }

    @Test
    func everyTruncatedCatalogueIsRefused() {
        for count in 0..<Self.catalogue.count where ![1 + 15].contains(count) {
            let bench = ModemBench()
            bench.connect()
            #expect(bench.answer(to: .send(envelope(-10, Array(Self.catalogue.prefix(count))))).first == 2, "\(count)")
            #expect(bench.elements == nil)
        }
    }

    @Test(arguments: [
        [2, 1, 2, 4, 1, 0x41], [1, 30, 2, 4, 1, 0x41], [1, 200, 2, 4, 1, 0x41], [1, 1, 99, 4, 1, 0x41],
        [1, 1, 2, 0, 1, 0x41], [1, 1, 2, 4, 0], [1, 1, 2, 4, 1, 0x41, 1, 2, 4, 1, 0x42],
        [1, 1, 11, 0x14, 1, 0x41, 0, 1], [1, 1, 2, 0x14, 1, 0x41, 9, 1], [1, 1, 2, 4, 4, 0x53, 0x41, 0x49, 0x44],
    ])
    func wrongCataloguesAreRefused(_ bytes: [UInt8]) {
        let bench = ModemBench()
        bench.connect()
        #expect(bench.answer(to: .send(envelope(-10, bytes))).first == 2)
        #expect(bench.elements == nil)
    }

    // MARK: Hostile lines

    /// Ten million random bytes, then a program that connects as usual.
    @Test
    func noInputCrashesOrBlocksTheModem() {
        let bench = ModemBench(allowsMemory: true)
        var generator = SeededGenerator(seed: 10_000_000)
        var count = 0
        while count < 10_000_000 {
            var bytes = [UInt8](repeating: 0, count: 4096)
            bytes.withUnsafeMutableBytes { buffer in
                for index in stride(from: 0, to: buffer.count, by: 8) {
                    buffer.storeBytes(of: generator.next(), toByteOffset: index, as: UInt64.self)
                }
            }
            // Pure noise rarely forms commands: real commands in between reach the sessions.
            switch count / 4096 % 7 {
            case 0: bytes += ModemCommand.startWebSocket(Array("elemental:x".utf8)).bytes
            case 1: bytes += ModemCommand.startWebSocket(Array("ws://h:1/chat".utf8)).bytes
            case 2: bytes += ModemCommand.send(ChatProgram.handshake).bytes
            case 3: bytes += ModemCommand.send(envelope(-10, Array(bytes.prefix(200)))).bytes
            case 4: bytes += ModemCommand.send(Array(bytes.prefix(255))).bytes
            case 5: bytes += ModemCommand.send(envelope(Int8(bitPattern: bytes[0]), Array(bytes[1..<9]))).bytes
            default: bench.take("value", CommodoreElements.print)
            }
            bench.send(bytes)
            count += bytes.count
            if count % 16 == 0 { _ = bench.pass(.milliseconds(400)) }
        }
        _ = bench.pass(.seconds(1))
        bench.send(.stopWiFi)
        #expect(bench.pass(.milliseconds(100)) == [1, 0])
        #expect(bench.answer(to: .startWiFi) == [1, 0])
        #expect(bench.answer(to: .startWebSocket(Array("elemental:after".utf8))) == Self.connected)
    }
}
