import ClientTransport
import Logging
import NIOCore
import Support

/// The state that a client's event loop shares with other threads.
final class ClientCore: Sendable {
    typealias Connect =
        @Sendable (_ configure: @escaping @Sendable (any Channel) throws -> Void) -> EventLoopFuture<any Channel>

    let address: MQTTAddress
    let options: MQTTOptions
    let clientID: String
    let userName: String?
    let eventLoop: any EventLoop
    /// Opens a connection to the broker, and adds its handlers before anything is read.
    let connect: Connect
    let logger: Logger
    let outbox: Locked<Outbox>
    /// Without the counts that the outbox keeps.
    let statistics = Locked(MQTTStatistics())
    let events = EventHub<MQTTEvent>()
    let messages = EventHub<MQTTMessage>()

    init(
        _ address: MQTTAddress, _ options: MQTTOptions, on eventLoop: (any EventLoop)? = nil, connect: Connect? = nil
    ) {
        self.address = address
        self.options = options
        clientID = options.clientID ?? MQTTOptions.randomClientID()
        userName = options.userName ?? address.user
        let eventLoop = eventLoop ?? options.eventLoopGroup.next()
        self.eventLoop = eventLoop
        let dialer = Dialer(
            eventLoop: eventLoop, timeout: TimeAmount(options.connectTimeout), tls: options.tlsConfiguration)
        self.connect = connect ?? { dialer.connect(to: address.endpoint, configure: $0) }
        logger = options.logger.printable
        outbox = Locked(Outbox(maximumTopics: options.maximumWaitingTopics, maximumBytes: options.maximumWaitingBytes))
    }

    func connectPacket(password: String?) -> OutgoingPacket.Connect {
        let (seconds, attoseconds) = options.keepAlive.components
        return OutgoingPacket.Connect(
            clientID: clientID, keepAliveSeconds: UInt16(clamping: seconds + (attoseconds > 0 ? 1 : 0)),
            lastWill: options.lastWill, userName: userName, password: password)
    }
}
