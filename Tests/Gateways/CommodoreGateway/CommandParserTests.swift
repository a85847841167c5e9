import TestSupport
import Testing

@testable import CommodoreGateway

struct CommandParserTests {
    private func commands(_ bytes: [UInt8], _ parser: inout CommandParser) -> [ModemCommand] {
        bytes.compactMap { parser.receive($0) }
    }

    private func silence(_ parser: inout CommandParser) -> Bool { parser.silence() }

    @Test
    func allSixCommandsAreFound() {
        var parser = CommandParser()
        let all: [ModemCommand] = [
            .setSSID(Array("net".utf8)), .setPassword([]), .startWiFi, .stopWiFi,
            .startWebSocket(Array("elemental:x".utf8)), .send([0, 255, 6]),
        ]
        #expect(commands(all.flatMap(\.bytes), &parser) == all)
        #expect(!parser.isWaiting)
        #expect(parser.skippedByteCount == 0)
    }

    @Test(arguments: [0, 1, 254, 255])
    func everyLengthIsTaken(_ count: Int) {
        var parser = CommandParser()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        #expect(commands([6, UInt8(count)] + bytes, &parser) == [.send(bytes)])
    }

    @Test
    func aCommandBehindNoiseIsFound() {
        var parser = CommandParser()
        #expect(commands([0xFF, 0x00, 0x80, 0x04, 0x00], &parser) == [.stopWiFi])
        #expect(parser.skippedByteCount == 3)
        #expect(commands([0x03, 0x00], &parser) == [.startWiFi])
    }

    @Test
    func halfACommandEndsWithSilence() {
        var parser = CommandParser()
        #expect(commands([6, 5, 1, 2], &parser).isEmpty)
        #expect(parser.isWaiting)
        #expect(!silence(&parser))
        #expect(!parser.isWaiting)
        #expect(commands([3, 0], &parser) == [.startWiFi])
        #expect(parser.skippedByteCount == 4)
    }

    @Test
    func anUnknownCommandIsDistinguishedFromNoise() {
        var parser = CommandParser()
        // The first bytes on a line may be the rest of something.
        #expect(commands([9, 2, 0x41, 0x42], &parser).isEmpty)
        #expect(!silence(&parser))
        #expect(commands([9, 2, 0x41, 0x42], &parser).isEmpty)
        #expect(silence(&parser))
        #expect(commands([9, 2, 0x41], &parser).isEmpty)
        #expect(!silence(&parser))
    }

    @Test
    func theRestOfACutCommandIsNotAnswered() {
        var parser = CommandParser()
        #expect(commands([6, 20, 1], &parser).isEmpty)
        parser.reset()
        #expect(commands(Array("hello".utf8) + [0x90, 0x04, 0x00], &parser) == [.stopWiFi])
    }

    @Test
    func noiseWithoutEndTakesNoMemoryAndHidesNoCommand() {
        var parser = CommandParser()
        for _ in 0..<100_000 { _ = parser.receive(0xEE) }
        #expect(commands([4, 0], &parser) == [.stopWiFi])
        #expect(parser.skippedByteCount == 100_000)
    }

    @Test
    func silenceResetsTheParser() {
        var generator = SeededGenerator(seed: 5)
        var parser = CommandParser()
        for _ in 0..<2000 {
            for _ in 0..<Int.random(in: 0...300, using: &generator) {
                _ = parser.receive(.random(in: 0...255, using: &generator))
            }
            _ = parser.silence()
            #expect(commands([6, 2, 7, 8], &parser) == [.send([7, 8])])
        }
    }
}
