import Foundation

/// The Python broker amqtt as a private process of a test.
///
/// It has faults that a client must bear: it sends what is retained a second time to whoever subscribes next, to any
/// topic, and it does not lower the QoS of a message to that of the subscription. It keeps nothing on disk.
public final class AMQTTBroker: MQTTBroker {
    public let port: Int
    public let process: BrokerProcess

    private static let program = "amqtt/bin/amqtt"

    /// Why there is no broker here, or nil.
    public static var unavailableReason: String? { MQTTPeers.missing(program, of: "amqtt") }

    public init() throws {
        let port = try PortLease.port()
        self.port = port
        process = try BrokerProcess(
            try MQTTPeers.required(Self.program, of: "amqtt"), named: "amqtt", readyLine: " bind to ",
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
