import Foundation

/// Debian's nats-server with its MQTT listener, as a private process of a test.
///
/// It speaks MQTT 3.1.1 with QoS 0 and 1. It closes the connection of a client that uses QoS 2, or a blank or a full stop
/// in a topic.
public final class NATSBroker: MQTTBroker {
    public let port: Int
    public let process: BrokerProcess

    private static let program = "nats-server"

    /// Why there is no broker here, or nil.
    public static var unavailableReason: String? { MQTTPeers.missing(program, of: program) }

    /// - Parameter user: who may use it, with this password; everybody if `nil`.
    public init(user: (name: String, password: String)? = nil) throws {
        let port = try PortLease.port()
        self.port = port
        // MQTT needs JetStream, which keeps what is retained, and a name of the server. Its own protocol gets a port, too,
        // which the system chooses.
        process = try BrokerProcess(
            try MQTTPeers.required(Self.program, of: Self.program), named: "nats", readyLine: "Server is ready",
            settings: { folder in
                """
                server_name: tests
                host: 127.0.0.1
                port: -1
                jetstream { store_dir: "\(folder)/store" }
                mqtt { host: 127.0.0.1, port: \(port) }
                \(user.map { "authorization { user: \"\($0.name)\", password: \"\($0.password)\" }" } ?? "")

                """
            }, arguments: { ["--config", $0] })
    }

    /// Removes what it stored, which outlives its process otherwise: after its next start it knows nothing of what was
    /// retained. It must not run.
    public func forgetEverything() { try? FileManager.default.removeItem(atPath: "\(process.folder)/store") }
}
