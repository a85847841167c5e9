import ClientTransport
public import Logging
public import NIOCore
import NIOPosix
public import NIOSSL

/// Gives the password for a connection; `nil` for none.
public typealias MQTTPasswordProvider = @Sendable () async throws -> String?

/// How a client connects and stays connected.
public struct MQTTOptions: Sendable {
    /// The client identifier, which no other client of the broker may use: the broker closes the connection of the one that
    /// was there before. `nil` for a random one of 22 lower-case letters and digits.
    public var clientID: String?
    /// The user, instead of the one in the address.
    public var userName: String?
    /// Called before each connection, for at most ``connectTimeout``. Needs a user. Without it no password is sent.
    public var password: MQTTPasswordProvider?
    /// How long nothing may be sent or received before the client asks the broker whether it is there; without an answer
    /// in half of this time the connection is lost. More than 0 and at most 65,535 s; the broker is told whole seconds.
    public var keepAlive: Duration = .seconds(30)
    /// What the broker publishes when the connection ends in any other way than by ``MQTTClient/stop()``.
    public var lastWill: MQTTLastWill?

    /// Decides when to try again after the connection was lost; `nil` for never.
    ///
    /// A first connection that cannot be made is tried again, too, unless the reason is one that lasts: the broker does not
    /// let the client in, its certificate is not trusted, or the options are wrong.
    public var reconnection: (any ReconnectionPolicy)? = ExponentialDelays.exponential()
    /// Whether what was subscribed to is subscribed to again after a reconnection. A broker forgets it, as every session is
    /// a clean one.
    public var restoresSubscriptions = true
    /// The longest that connecting may take, from the host name to the broker's consent.
    public var connectTimeout: Duration = .seconds(15)

    /// Bytes of the largest message accepted from the broker, with its topic. The default has room for 1 MiB and any topic.
    public var maximumPacketSize = (1 << 20) + 65_539
    /// The most topics of which a newest value may wait.
    public var maximumWaitingTopics = 16_384
    /// The most bytes that may wait to be sent.
    public var maximumWaitingBytes = 8 << 20
    /// The most messages that may wait for the broker's acknowledgement, 1...60,000. The default lets a burst of a thousand
    /// values pass without waiting, and at 50 ms to the broker 20,000 messages a second. With more, less of what waits can
    /// still be replaced by newer values.
    public var maximumInFlight = 1024

    /// TLS settings: certificates to trust, a client certificate. `nil` for the system's defaults.
    public var tlsConfiguration: TLSConfiguration?
    /// Where the client's event loop comes from. An event loop is a group as well: clients that are given one share it.
    public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// Where the client logs, at level `debug`.
    public var logger = Logger(label: "MQTT", factory: { _ in SwiftLogNoOpLogHandler() })

    public init() {}

    /// Trusts these certificates in addition to the system's, such as that of an authority of one's own.
    ///
    /// - Parameter pem: the content of a file with one or more certificates in PEM form.
    /// - Throws: ``MQTTError/Code/invalidOptions`` if there is no certificate in it.
    public mutating func trustCertificates(pem: some Sequence<UInt8>) throws(MQTTError) {
        do {
            tlsConfiguration = try tlsConfiguration.trusting(pem: pem)
        } catch {
            throw MQTTError(.invalidOptions, "these are not certificates in PEM form", cause: error)
        }
    }
}

extension MQTTOptions {
    /// An identifier that every broker has to accept (3.1.3.1), with 113 bits of chance.
    static func randomClientID() -> String {
        let characters = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
        return String(decoding: (0..<22).map { _ in characters.randomElement() ?? 0 }, as: UTF8.self)
    }

    func check(user: String?) throws(MQTTError) {
        func check(_ isRight: Bool, _ what: String) throws(MQTTError) {
            guard isRight else { throw MQTTError(.invalidOptions, what) }
        }
        func check(_ text: String?, _ what: String) throws(MQTTError) {
            guard let text else { return }
            try check(
                text.utf8.count <= 65535 && !text.utf8.contains(0), "\(what) has at most 65535 bytes and no NUL in it")
        }
        try check(clientID, "a client identifier")
        try check(clientID != "", "the client identifier is empty; leave it out for a random one")
        try check(user, "a user name")
        try check(password == nil || user != nil, "a password needs a user: MQTT 3.1.1 has none without")
        try check(
            keepAlive > .zero && keepAlive <= .seconds(65535), "the keep-alive must be more than 0 and at most 65535 s")
        try check(connectTimeout > .zero, "the time to connect must be more than 0")
        try check((lastWill?.payload.readableBytes ?? 0) <= 65535, "the last will's payload has at most 65535 bytes")
        try check(
            (1...OutgoingPacket.maximumLength).contains(maximumPacketSize),
            "the maximum packet size must be 1 to \(OutgoingPacket.maximumLength) bytes")
        try check((1...60000).contains(maximumInFlight), "the maximum of messages in flight must be 1 to 60000")
        try check(
            maximumWaitingTopics >= 0 && maximumWaitingBytes >= 0,
            "the limits of what may wait must not be below 0")
    }
}
