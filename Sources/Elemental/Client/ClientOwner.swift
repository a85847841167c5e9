import ElementalWire
import NIOCore
import NIOPosix

/// The client's side of a connection: greets the service, opens the UDP socket and hands over the device when ready.
final class ClientOwner: SessionOwner {
    private let name: String
    private let wantsUDP: Bool
    private let configure: @Sendable (ElementalDevice) -> Void
    private let ready: EventLoopPromise<ElementalDevice>
    private var session: Session?
    private var isSettled = false

    init(
        name: String, wantsUDP: Bool, ready: EventLoopPromise<ElementalDevice>,
        configure: @escaping @Sendable (ElementalDevice) -> Void
    ) {
        self.name = name
        self.wantsUDP = wantsUDP
        self.ready = ready
        self.configure = configure
    }

    func sessionOpened(_ session: Session) {
        self.session = session
        guard wantsUDP, let context = session.context, let remote = context.remoteAddress else {
            return greet(session, udpPort: 0)
        }
        let handler = NIOLoopBound(session, eventLoop: context.eventLoop)
        DatagramBootstrap.elemental(on: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ClientDatagramHandler(session: handler.value))
                }
            }
            .connect(to: remote)
            .assumeIsolated()
            .whenComplete { [self] result in
                guard case .none = session.ending else {
                    if case .success(let channel) = result { channel.close(promise: nil) }
                    return
                }
                switch result {
                case .success(let channel):
                    session.datagramSink = DatagramSink(channel: channel, remote: nil)
                    session.updateDatagramState()
                    greet(session, udpPort: UInt16(channel.localAddress?.port ?? 0))
                case .failure(let error):
                    session.logger.warning(
                        "no UDP socket", metadata: ["device": "\(session.device.name)", "error": "\(error)"])
                    greet(session, udpPort: 0)
                }
                session.flush()
            }
    }

    /// Name and hello leave in one write, so that a service knows both before it tells its user of the device.
    private func greet(_ session: Session, udpPort: UInt16) {
        session.sendSystem(.deviceName, name.utf8.prefix(SystemElement.maximumNameByteCount))
        let hello = Hello(features: [.emptyValues, .ping, .wantsCatalogue, .pieces], udpPort: udpPort)
        session.sendSystem(.hello, hello.wireBytes)
    }

    func session(_ session: Session, refuses name: String) -> String? { nil }

    func session(_ session: Session, received hello: Hello) {}

    func sessionIsReady(_ session: Session) {
        configure(session.device)
        settle(.success(session.device))
    }

    func sessionEnded(_ session: Session, _ reason: DisconnectReason) {
        session.datagramSink?.channel.close(promise: nil)
        settle(.failure(Self.error(reason, session.device)))
    }

    /// Gives up connecting.
    func cancel() {
        settle(.failure(ElementalError(.cancelled, "connecting was cancelled")))
        session?.close(DisconnectReason(.cancelled, isExpected: true))
    }

    func fail(_ error: ElementalError) { settle(.failure(error)) }

    private func settle(_ result: Result<ElementalDevice, any Error>) {
        guard !isSettled else { return }
        isSettled = true
        ready.completeWith(result)
    }

    /// Why no device came of the connection.
    private static func error(_ reason: DisconnectReason, _ device: ElementalDevice) -> ElementalError {
        switch reason.kind {
        case .shutDown(let text):
            ElementalError(.refused, "\(device) turned the connection away: \(text)")
        case .catalogueMismatch(let text):
            ElementalError(.catalogueMismatch, text)
        case .timedOut(let text):
            ElementalError(.timedOut, "\(device) accepted the connection, but \(text); is it an element service?")
        case .cancelled:
            ElementalError(.cancelled, "connecting was cancelled")
        default:
            ElementalError(
                .connectionFailed,
                "\(device) ended the connection during the handshake (\(reason)); is it an element service?")
        }
    }
}
