import ClientTransport
import Logging
import NIOCore
import Support

/// What a client's event loop and all other threads share.
final class ClientCore: Sendable {
    let address: MQTTAddress
    let options: MQTTOptions
    let clientID: String
    let userName: String?
    let eventLoop: any EventLoop
    let dialer: Dialer
    let logger: Logger
    let outbox: Locked<Outbox>
    let counts = Counts()
    let events = EventHub<MQTTEvent>()
    let messages = MessageHandlers()

    init(_ address: MQTTAddress, _ options: MQTTOptions) {
        self.address = address
        self.options = options
        clientID = options.clientID ?? MQTTOptions.randomClientID()
        userName = options.userName ?? address.user
        eventLoop = options.eventLoopGroup.next()
        dialer = Dialer(
            eventLoop: eventLoop, timeout: TimeAmount(options.connectTimeout),
            tls: TLSContext(options.tlsConfiguration))
        logger = options.logger.printable
        outbox = Locked(
            Outbox(limits: Outbox.Limits(topics: options.maximumWaitingTopics, bytes: options.maximumWaitingBytes)))
    }

    /// What a connection is made with.
    func settings(password: String?) -> ConnectionHandler.Settings {
        let (seconds, attoseconds) = options.keepAlive.components
        return ConnectionHandler.Settings(
            address: address,
            connect: OutgoingPacket.Connect(
                clientID: clientID, keepAliveSeconds: UInt16(clamping: seconds + (attoseconds > 0 ? 1 : 0)),
                lastWill: options.lastWill, userName: userName, password: password),
            keepAlive: TimeAmount(options.keepAlive), maximumInFlight: options.maximumInFlight,
            maximumPacketSize: options.maximumPacketSize, counts: counts)
    }
}
