import Elemental
import NIOCore

/// The chat program of "Cloud enabled Commodore 64", unmodified: the gateway is its SignalR hub.
final class ChatSession: ProgramSession {
    let name = "chat"
    let reading = ProgramReading.byteAFrame
    let wakeTime: NIODeadline? = nil
    private unowned let host: any ProgramHost
    private var isHandshakeDone = false

    /// The end of a handshake message.
    private static let separator: UInt8 = 0x1E

    init(host: any ProgramHost) { self.host = host }

    func open(at now: NIODeadline) { host.connected(self) }

    func wake(at now: NIODeadline) {}

    func end() {}

    func receive(_ message: [UInt8], at now: NIODeadline) -> ModemResult {
        guard isHandshakeDone else { return handleHandshake(message, now) }
        for body in ChatMessage.bodies(of: message) {
            guard let (name, text) = ChatMessage.broadcast(body) else { continue }
            host.publish(.string(ChatText.text(name)), of: CommodoreElements.name.definition)
            host.publish(.string(ChatText.text(text)), of: CommodoreElements.said.definition)
            // A hub sends a message to all clients including its sender, which is how the program shows its own
            // messages. The bytes are returned unchanged: the program shows screen codes as well as ASCII.
            _ = show(text, from: name, now)
        }
        return .ok
    }

    /// The handshake is JSON with 1E at its end; the answer to the right one is an empty object.
    private func handleHandshake(_ message: [UInt8], _ now: NIODeadline) -> ModemResult {
        guard message.last == Self.separator, message.first == UInt8(ascii: "{"),
            String(decoding: message, as: UTF8.self).contains("\"messagepack\"")
        else {
            send(Array("{\"error\":\"this hub speaks messagepack\"}".utf8) + [Self.separator], now)
            return .ok
        }
        isHandshakeDone = true
        send(Array("{}".utf8) + [Self.separator], now)
        return .ok
    }

    func take(_ value: ElementValue, of element: ElementDefinition, from client: String, at now: NIODeadline) -> Taken {
        guard element.id == CommodoreElements.say.id, case .string(let text) = value, isHandshakeDone else {
            return .unwanted
        }
        return show(ChatText.bytes(text), from: ChatText.bytes(client), now)
    }

    private func show(_ text: [UInt8], from name: [UInt8], _ now: NIODeadline) -> Taken {
        for payload in ChatMessage.payloads(sender: name, text: text) where !send(payload, now) {
            return .refused("the queue for the machine is full")
        }
        return .queued
    }

    @discardableResult
    private func send(_ payload: [UInt8], _ now: NIODeadline) -> Bool {
        host.send(OutputQueue.Item(bytes: payload, latest: nil, sharesRecord: false, time: now), from: self)
    }
}
