import NIOCore
import Testing

@testable import MQTT

struct OutboxTests {
    private func message(_ topic: String, _ text: String, _ qos: MQTTQoS = .atLeastOnce) -> OutgoingMessage {
        OutgoingMessage(topic: MQTTTopic(valid: topic), payload: ByteBuffer(string: text), qos: qos, isRetained: false)
    }

    private func outbox(topics: Int = 10, bytes: Int = 10_000) -> Outbox {
        var outbox = Outbox(maximumTopics: topics, maximumBytes: bytes)
        outbox.isOpen = true
        return outbox
    }

    private func drain(_ outbox: inout Outbox, hasRoom: Bool = true) -> [String] {
        var texts: [String] = []
        while let message = outbox.takeNext(hasRoom: hasRoom).message {
            texts.append("\(message.topic)=\(String(buffer: message.payload))")
        }
        return texts
    }

    @Test
    func aNewerValueTakesThePlaceOfTheOlder() throws {
        var outbox = outbox()
        try outbox.addNewest(message("a", "1"))
        try outbox.addNewest(message("b", "1"))
        try outbox.addNewest(message("c", "1"))
        try outbox.addNewest(message("b", "2"))
        #expect(outbox.count == 3)
        expect(outbox.takeNext(hasRoom: true).message?.topic.name, "a")
        try outbox.addNewest(message("a", "2"))
        try outbox.addNewest(message("c", "2"))
        expect(drain(&outbox), ["b=2", "c=2", "a=2"])
        #expect(outbox.isEmpty && outbox.bytes == 0 && outbox.replaced == 2)
        try outbox.addNewest(message("b", "3"))
        expect(drain(&outbox), ["b=3"])
    }

    @Test
    func bothKindsInTheOrderInWhichTheyCame() throws {
        var outbox = outbox()
        try outbox.add(message("q", "1"))
        try outbox.addNewest(message("n", "1"))
        try outbox.add(message("q", "2"))
        try outbox.addNewest(message("m", "1"))
        try outbox.addNewest(message("n", "2"))
        expect(drain(&outbox), ["q=1", "n=2", "q=2", "m=1"])
    }

    @Test
    func withoutRoomOnlyWhatNeedsNone() throws {
        var outbox = outbox()
        try outbox.addNewest(message("a", "1", .atMostOnce))
        try outbox.addNewest(message("b", "1", .atLeastOnce))
        try outbox.addNewest(message("c", "1", .atMostOnce))
        expect(drain(&outbox, hasRoom: false), ["a=1"], "nothing overtakes")
        expect(drain(&outbox), ["b=1", "c=1"])
    }

    @Test
    func theBounds() throws {
        var outbox = outbox(topics: 2, bytes: 1000)
        try outbox.addNewest(message("a", "1"))
        try outbox.addNewest(message("b", "1"))
        let error = refusal { try outbox.addNewest(message("c", "1")) }
        #expect(error?.code == .queueFull)
        #expect(error?.message.contains("maximumWaitingTopics") == true)
        try outbox.addNewest(message("b", String(repeating: "x", count: 500)))
        let size = outbox.bytes
        let large = String(repeating: "x", count: 900)
        expect(refusal { try outbox.addNewest(message("b", large)) }?.code, .queueFull)
        let other = refusal { try outbox.add(message("q", large)) }
        #expect(other?.message.contains("maximumWaitingBytes") == true)
        let never = refusal { try outbox.add(message("q", large + large)) }
        #expect(never?.code == .messageTooLarge)
        #expect(outbox.bytes == size, "a refused message counts for nothing")
        // A smaller one always fits in its place.
        try outbox.addNewest(message("b", "y"))
        expect(drain(&outbox), ["a=1", "b=y"])
        #expect(outbox.bytes == 0)
    }

    @Test
    func clearing() throws {
        var outbox = outbox()
        let sender = OutgoingMessage.Sender()
        var queued = message("q", "1")
        queued.sender = sender
        try outbox.add(queued)
        try outbox.addNewest(message("n", "1"))
        expect(outbox.attend())
        expect(!outbox.attend(), "the event loop is woken once")
        expect(outbox.clear().first === sender)
        #expect(outbox.isEmpty && !outbox.isOpen && outbox.bytes == 0)
        outbox.isOpen = true
        try outbox.addNewest(message("n", "2"))
        expect(outbox.attend())
        expect(drain(&outbox), ["n=2"])
        expect(outbox.attend(), "the event loop has looked and found nothing more")
    }
}
