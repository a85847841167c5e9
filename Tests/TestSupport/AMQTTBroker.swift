import Foundation

/// The Python broker amqtt as a private process of a test.
///
/// It has faults that a client must bear: it sends what is retained a second time to whoever subscribes next, to any
/// topic, and it does not lower the QoS of a message to that of the subscription. It keeps nothing on disk.
public final class AMQTTBroker: ProcessBroker {
    /// The port it listens on, at 127.0.0.1.
    public let port: Int
    /// Its process.
    public let process: BrokerProcess

    private static let program = "amqtt/bin/amqtt"

    /// Why there is no broker here, or nil.
    public static var unavailableReason: String? {
        MQTTPeers.program(program) == nil ? MQTTPeers.missing("amqtt") : nil
    }

    /// Prepares a broker for everybody; ``start()`` starts it.
    ///
    /// - Parameter port: the port to listen on; one that is free if `nil`.
    public init(port: Int? = nil) throws {
        guard let program = MQTTPeers.program(Self.program) else { throw TestSupportError(MQTTPeers.missing("amqtt")) }
        let port = try port ?? PortLease.port()
        self.port = port
        process = try BrokerProcess(
            program, named: "amqtt", readyLine: " bind to ",
            settings: { _ in
                """
                listeners:
                  default:
                    type: tcp
                    bind: 127.0.0.1:\(port)
                plugins:
                  amqtt.plugins.authentication.AnonymousAuthPlugin:
                    allow_anonymous: true

                """
            }, arguments: { ["-c", $0] })
    }
}
