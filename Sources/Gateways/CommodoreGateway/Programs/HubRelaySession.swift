import Elemental
import NIOCore
import SignalR

/// A program that is connected to a real SignalR hub: bytes are forwarded in both directions, in records of at most 254.
///
/// It resolves two differences between current hubs and the program of "Cloud enabled Commodore 64". First, the
/// program's invocation identifier is a text that is not UTF-8 (`A1 C0`), which some hubs treat as a broken connection.
/// Its broadcasts are rewritten without the identifier, because the program expects no answer. Second, the program
/// reads the parts of a message at fixed offsets, but hubs encode the same message in more than one way. Messages for
/// the program are rewritten in its layout.
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
    /// The maximum length of a hub's message, in bytes. The program could not show a longer one anyway.
    private static let maximumMessage = 64 * 1024
    /// The maximum payload of a record, in bytes: the program of "Cloud enabled Commodore 64" fails with 255.
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
        // Before the handshake, the hub would take a ping for the handshake.
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
        // Pings are not forwarded: the gateway sends pings in place of the program.
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
