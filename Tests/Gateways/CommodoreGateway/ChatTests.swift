import Elemental
import NIOCore
import SignalR
import TestSupport
import Testing

@testable import CommodoreGateway

/// The unmodified chat program against the modem, byte for byte and frame by frame.
struct ChatTests {
    @Test(arguments: [50.0, 60.0])
    func itGetsThrough(_ framesPerSecond: Double) {
        let chat = ChatBench(framesPerSecond: framesPerSecond)
        chat.run(frames: 300) { $0.program.phase == .chatting }
        #expect(chat.program.phase == .chatting)
        #expect(chat.bench.programs == ["chat"])
        #expect(chat.bench.values(of: CommodoreElements.program) == ["chat"])
    }

    @Test(arguments: [100, 10_000, 40_000])
    func messagesOfAnyLengthAreRead(_ count: Int) {
        let message = ChatMessage.invocation("NewMessage", "Ada", String(repeating: "x", count: count))
        let bodies = ChatMessage.bodies(of: message + message)
        #expect(bodies.count == 2)
        #expect(bodies.allSatisfy { ChatMessage.news($0)?.1.count == count })
        // One whose length is no number of five groups ends what can be read.
        #expect(ChatMessage.bodies(of: message + [UInt8](repeating: 0xFF, count: 9)).count == 1)
    }

    /// The drain takes 30 bytes: the answer to its first command and 28 of junk.
    @Test(arguments: [50.0, 60.0], [0, 1, 14, 28])
    func junkBeforeTheDrainsEndDoesNoHarm(_ framesPerSecond: Double, _ count: Int) {
        let chat = ChatBench(framesPerSecond: framesPerSecond)
        chat.addNoise((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 2) })
        chat.run(frames: 400) { $0.program.phase == .chatting }
        #expect(chat.program.phase == .chatting)
    }

    @Test
    func oneMoreByteHangsTheProgramAsOnARealMachine() {
        let chat = ChatBench(framesPerSecond: 60)
        chat.addNoise(Array(repeating: 0x55, count: 29))
        chat.run(frames: 400) { $0.program.phase == .chatting }
        #expect(chat.program.phase != .chatting)
    }

    /// The machine's own line is noisy when it is switched on, and half a command may be left from before.
    @Test(arguments: [[0xFF], [0x00, 0xFF, 0x80], [0x06, 0x30, 0x41], [0x05], Array(repeating: 0x03, count: 7)])
    func junkBeforeItsFirstCommandDoesNoHarm(_ junk: [UInt8]) {
        let chat = ChatBench(framesPerSecond: 60)
        chat.program.sent = junk + chat.program.sent
        chat.run(frames: 400) { $0.program.phase == .chatting }
        #expect(chat.program.phase == .chatting)
    }

    @Test
    func itsRestartWhileConnectedDoesNoHarm() {
        let chat = ChatBench(framesPerSecond: 60)
        chat.run(frames: 300) { $0.program.phase == .chatting }
        for number in 0..<20 { chat.bench.take("message \(number) of a long row of them", CommodoreElements.say) }
        chat.run(frames: 60)
        chat.program = ChatProgram()
        chat.run(frames: 400) { $0.program.phase == .chatting }
        #expect(chat.program.phase == .chatting)
        #expect(chat.bench.programs == ["chat", "-chat", "chat"])
    }

    @Test
    func whatItSaysBecomesNameAndSaidAndIsShownToItself() {
        let chat = ChatBench(framesPerSecond: 50)
        chat.run(frames: 300) { $0.program.phase == .chatting }
        chat.program.say("Hello, world", as: "Rob")
        chat.run(frames: 300) { !$0.program.shown.isEmpty }
        #expect(chat.bench.values(of: CommodoreElements.name) == ["Rob"])
        #expect(chat.bench.values(of: CommodoreElements.said) == ["Hello, world"])
        let shown: [UInt8] = [0xA3] + Array("Rob".utf8) + [0xAC] + Array("Hello, world".utf8)
        #expect(chat.program.shown == [shown])
        #expect(chat.program.phase == .chatting)
    }

    @Test
    func saidIsTakenAsScreenCodesToo() {
        #expect(ChatText.text([0x08, 0x05, 0x0C, 0x0C, 0x0F, 0x20, 0x57, 0x6F, 0xC0]) == "hello Wo\u{FFFD}")
    }

    @Test
    func textsForTheProgramArriveInPiecesThatItCanShow() throws {
        let chat = ChatBench(framesPerSecond: 50)
        chat.run(frames: 300) { $0.program.phase == .chatting }
        let text = String(repeating: "Größe… 100 € [a_b] ", count: 20)
        #expect(chat.bench.take(text, CommodoreElements.say, from: "a client with a long name") == nil)
        chat.run(frames: 2000) { _ in false }
        #expect(chat.program.shown.count > 3)
        #expect(chat.program.lostByteCount == 0)
        #expect(chat.program.longestUnread < 64)
        var shown: [UInt8] = []
        for line in chat.program.shown {
            let (name, text) = try #require(parts(line))
            #expect(name == Array("a client with a ".utf8))
            shown += (shown.isEmpty ? [] : [0x20]) + text
        }
        let expected = String(repeating: "Groesse... 100 EUR {a-b} ", count: 20)
        #expect(String(decoding: shown, as: UTF8.self) == expected)
    }

    /// Sender and text as the program takes them.
    private func parts(_ bytes: [UInt8]) -> (name: [UInt8], text: [UInt8])? {
        var buffer = ByteBuffer(bytes: bytes)
        guard let name = try? buffer.readMessagePackText(), let text = try? buffer.readMessagePackText() else {
            return nil
        }
        return (Array(name.readableBytesView), Array(text.readableBytesView))
    }

    @Test(arguments: [0, 1, 31, 32, 91, 92, 93, 94, 300])
    func messagesKeepToItsLimits(_ count: Int) {
        for nameLength in [0, 1, 16, 40] {
            let text = Array(repeating: UInt8(ascii: "x"), count: count)
            let payloads = ChatMessage.payloads(sender: Array(repeating: 0x41, count: nameLength), text: text)
            var total = 0
            for payload in payloads {
                #expect(payload.count <= 128 && payload[0] < 128 && Int(payload[0]) == payload.count - 1)
                #expect(payload[1] == 0x95 && payload[5] == 0xAA && payload[16] == 0x92)
                let parts = parts(Array(payload[17...]))
                #expect(parts?.name.count == min(nameLength, 16))
                total += parts?.text.count ?? 0
            }
            #expect(total == count)
        }
    }

    @Test
    func anotherHandshakeIsRefusedAsAHubDoes() throws {
        let bench = ModemBench()
        bench.send(.startWiFi)
        bench.send(.startWebSocket(Array("ws://a:1/chat".utf8)))
        #expect(records(bench.pass(.seconds(2))) == [ModemResult.ok.bytes, ModemResult.connected.bytes])
        let answer = try #require(records(bench.answer(to: .send(Array(#"{"protocol":"json"}"#.utf8) + [0x1E]))))
        #expect(answer.first == [1, 0])
        #expect(answer.last?.first == 3)
    }

    @Test
    func pingsAndNonsenseAreAnsweredAndIgnored() {
        let chat = ChatBench(framesPerSecond: 60)
        chat.run(frames: 300) { $0.program.phase == .chatting }
        var generator = SeededGenerator(seed: 64)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...255, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            chat.bench.send(.send(bytes))
        }
        chat.bench.send(.send([0x02, 0x91, 0x06]))
        #expect(chat.bench.modem.session != nil)
    }
}
