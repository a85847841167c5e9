import Elemental
import NIOCore

/// A session of the chat program of "Cloud enabled Commodore 64".
protocol ChatProgramSession: ProgramSession {
    var isHandshakeDone: Bool { get }
}

extension ChatProgramSession {
    /// The end of a handshake message.
    static var separator: UInt8 { 0x1E }

    func take(_ value: ElementValue, of element: ElementDefinition, from client: String, at now: NIODeadline) -> Taken {
        guard element.id == CommodoreElements.say.id, case .string(let text) = value, isHandshakeDone else {
            return .unwanted
        }
        return show(ChatText.bytes(text), from: ChatText.bytes(client), now)
    }

    func publish(_ text: String, from name: String) {
        modem.publish(.string(name), of: CommodoreElements.name.definition)
        modem.publish(.string(text), of: CommodoreElements.said.definition)
    }

    /// Lets the program show a text with a name, both in ASCII.
    @discardableResult
    func show(_ text: [UInt8], from name: [UInt8], _ now: NIODeadline) -> Taken {
        for payload in ChatMessage.payloads(sender: name, text: text) where !send(payload, now) { return .queueFull }
        return .queued
    }

    @discardableResult
    func send(_ payload: [UInt8], _ now: NIODeadline) -> Bool {
        modem.send(OutputQueue.Item(bytes: payload, time: now), from: self)
    }
}

/// The unmodified chat program with the gateway as its SignalR hub.
final class ChatSession: ChatProgramSession {
    let name = "chat"
    unowned let modem: Modem
    private(set) var isHandshakeDone = false

    init(modem: Modem) { self.modem = modem }

    func open(at now: NIODeadline) { modem.connected(self) }

    func receive(_ message: [UInt8], at now: NIODeadline) -> ModemResult {
        guard isHandshakeDone else { return handleHandshake(message, now) }
        for body in ChatMessage.bodies(of: message) {
            guard let (name, text) = ChatMessage.broadcast(body) else { continue }
            publish(ChatText.text(text), from: ChatText.text(name))
            // A hub sends a message to all clients including its sender, which is how the program shows its own
            // messages. The bytes are returned unchanged: the program shows screen codes as well as ASCII.
            show(text, from: name, now)
        }
        return .ok
    }

    /// Handles the handshake, which is JSON with 1E at its end. The answer to a valid one is an empty object.
    private func handleHandshake(_ message: [UInt8], _ now: NIODeadline) -> ModemResult {
        isHandshakeDone =
            message.last == Self.separator && message.first == UInt8(ascii: "{")
            && String(decoding: message, as: UTF8.self).contains("\"messagepack\"")
        let answer = isHandshakeDone ? "{}" : "{\"error\":\"this hub speaks messagepack\"}"
        send(Array(answer.utf8) + [Self.separator], now)
        return .ok
    }
}
