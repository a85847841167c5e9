import ClientTransport
public import Logging
public import NIOCore
import NIOPosix
public import NIOSSL

/// Returns the password for a connection; `nil` for none.
public typealias MQTTPasswordProvider = @Sendable () async throws -> String?

/// How a client connects and stays connected.
public struct MQTTOptions: Sendable {
    /// The client identifier. It must be unique at the broker, which disconnects an older client with the same
    /// identifier. `nil` for a random one of 22 lower-case letters and digits.
    public var clientID: String?
    /// The user name. It replaces the one in the address.
    public var userName: String?
    /// Returns the password, before each connection and within ``connectTimeout``. It requires a user name. With `nil`,
    /// no password is sent.
    public var password: MQTTPasswordProvider?
    /// The time without sending, or without receiving, after which the client pings the broker. Without an answer
    /// within half of this time, the connection counts as lost. More than 0 and at most 65,535 s. The broker receives
    /// it rounded up to whole seconds.
    public var keepAlive: Duration = .seconds(30)
    /// The message that the broker publishes when the connection ends, unless ``MQTTClient/stop()`` ended it.
    public var lastWill: MQTTLastWill?

    /// Decides when to reconnect after the connection was lost; `nil` for never.
    ///
    /// A first connection that cannot be made is retried too, unless the reason is permanent: the broker does not
    /// accept the client, its certificate is not trusted, or the options are wrong.
    public var reconnection: (any ReconnectionPolicy)? = ExponentialDelays.exponential()
    /// Whether subscriptions are restored after a reconnection. The broker forgets them, because every session is a
    /// clean one.
    public var restoresSubscriptions = true
    /// The maximum time to connect, from the look-up of the host name to the broker's acceptance.
    public var connectTimeout: Duration = .seconds(15)

    /// The maximum size of a message from the broker with its topic, in bytes. The default has room for 1 MiB and any
    /// topic.
    public var maximumPacketSize = (1 << 20) + 65_539
    /// The maximum number of topics with a newest value that waits.
    public var maximumWaitingTopics = 16_384
    /// The maximum number of bytes that wait to be sent.
    public var maximumWaitingBytes = 8 << 20
    /// The maximum number of messages that wait for the broker's acknowledgement, 1...60,000. The default allows a
    /// burst of a thousand values without waiting, and 20,000 messages a second at a round trip of 50 ms. With a higher
    /// maximum, fewer waiting values can still be replaced by newer ones.
    public var maximumInFlight = 1024

    /// TLS settings: certificates to trust, a client certificate. `nil` for the system's defaults.
    public var tlsConfiguration: TLSConfiguration?
    /// The group that provides the client's event loop. An event loop is a group too: clients with the same one share
    /// it.
    public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// Where the client logs, at level `debug`.
    public var logger = Logger(label: "MQTT", factory: { _ in SwiftLogNoOpLogHandler() })

    /// Creates options with the defaults.
    public init() {}

    /// Trusts these certificates in addition to the system's, for example the certificate of a private authority.
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
    /// An identifier that every broker has to accept (3.1.3.1), with 113 random bits.
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
                text.utf8.count <= 65535 && !text.utf8.contains(0), "\(what) must have at most 65535 bytes and no NUL")
        }
        try check(clientID, "a client identifier")
        try check(clientID != "", "the client identifier is empty; leave it out for a random one")
        try check(user, "a user name")
        try check(password == nil || user != nil, "a password needs a user name: MQTT 3.1.1 allows none without it")
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
            "the limits of waiting topics and bytes must not be below 0")
    }
}
