import Elemental
import NIOCore
import SignalR

/// A program that is connected to a real SignalR hub: bytes are forwarded in both directions, in records of at most 254.
///
/// Two things are mended on the way, for hubs of today and the program of "Cloud enabled Commodore 64" differ. The program
/// numbers its invocations with a text that is no UTF-8 (`A1 C0`), which some hubs take for a broken connection: what it
/// broadcasts is rewritten without its invocation identifier, since it expects no answer. And it looks for a message's
/// parts at fixed places, while hubs write the same message in more than one way: messages for it are written as it
/// reads them.
final class HubRelaySession: ChatProgramSession {
    let name = "hub"
    private(set) var wakeTime: NIODeadline?

    private let url: String
    unowned let modem: Modem
    private var socket: HubSocket?
    private var isOver = false
    private var frames = FrameReader(isBinary: true, maximum: maximumMessage)
    private(set) var isHandshakeDone = false

    private static let ping: [UInt8] = [0x02, 0x91, 0x06]
    /// The maximum length of a hub's message: more could not be shown anyway.
    private static let maximumMessage = 64 * 1024
    /// Bytes of the payload of one record: the program of "Cloud enabled Commodore 64" does not survive 255.
    private static let maximumRecord = 254

    init(url: String, modem: Modem) {
        self.url = url
        self.modem = modem
    }

    private var pingInterval: TimeAmount { TimeAmount(modem.configuration.hubPingInterval) }

    func open(at now: NIODeadline) {
        do throws(SignalRError) {
            socket = try HubSocket(
                url, on: modem.eventLoop,
                opened: { [weak self] in self?.opened() },
                received: { [weak self] in self?.received($0) },
                closed: { [weak self] _ in self?.closed() })
        } catch {
            closed()
        }
    }

    func end() {
        isOver = true
        wakeTime = nil
        socket?.close()
        socket = nil
    }

    private func opened() {
        guard !isOver else { return }
        wakeTime = .now() + pingInterval
        modem.connected(self)
    }

    private func closed() {
        guard !isOver else { return }
        end()
        modem.disconnected(self)
    }

    func wake(at now: NIODeadline) {
        guard let time = wakeTime, now >= time else { return }
        // Before the handshake a ping would be taken for one.
        if isHandshakeDone { socket?.send(ByteBuffer(bytes: Self.ping)) }
        wakeTime = now + pingInterval
    }

    // MARK: - To the hub

    func receive(_ message: [UInt8], at now: NIODeadline) -> ModemResult {
        // While the hub is not writable, the program has to retry.
        guard let socket, socket.isWritable else { return .sendFailed }
        wakeTime = now + pingInterval
        let bodies = isHandshakeDone ? ChatMessage.bodies(of: message) : []
        guard !bodies.isEmpty, bodies.allSatisfy({ ChatMessage.broadcast($0) != nil }) else {
            socket.send(ByteBuffer(bytes: message))
            return .ok
        }
        for body in bodies {
            guard let (name, text) = ChatMessage.broadcast(body) else { continue }
            let (sender, words) = (ChatText.text(name), ChatText.text(text))
            socket.send(ByteBuffer(bytes: ChatMessage.invocation("Broadcast", sender, words)))
            publish(words, from: sender)
        }
        return .ok
    }

    // MARK: - To the program

    private func received(_ bytes: ByteBuffer) {
        guard !isOver else { return }
        frames.append(bytes)
        do throws(SignalRError) {
            if !isHandshakeDone {
                guard let answer = try frames.nextText(maximum: Self.maximumMessage) else { return }
                isHandshakeDone = true
                forward(Array(answer.readableBytesView) + [Self.separator])
            }
            while !isOver, let body = try frames.next() { hand(body) }
        } catch {
            closed()
        }
    }

    private func hand(_ body: ByteBuffer) {
        // A ping is for the gateway, which answers for the program.
        guard !body.readableBytesView.elementsEqual(Self.ping.dropFirst()) else { return }
        guard let (name, text) = ChatMessage.news(body) else {
            return forward(ChatMessage.framed { $0.writeImmutableBuffer(body) })
        }
        let sender = ChatText.bytes(String(decoding: name, as: UTF8.self))
        let words = ChatText.bytes(String(decoding: text, as: UTF8.self))
        show(words, from: sender, .now())
    }

    private func forward(_ message: [UInt8]) {
        for start in stride(from: 0, to: message.count, by: Self.maximumRecord) {
            send(Array(message[start...].prefix(Self.maximumRecord)), .now())
        }
    }
}
