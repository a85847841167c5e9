import Foundation

/// The peers of the MQTT tests: brokers and clients of others, set up by `Tests/install mqtt`.
public enum MQTTPeers {
    static let folder = Repository.path(".build/mqtt-peers")

    /// The path of a program in that folder, if it is there.
    static func program(_ name: String) -> String? {
        let path = "\(folder)/\(name)"
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    static func missing(_ name: String) -> String { "\(name) is not there: run Tests/install mqtt" }

    /// The path of mosquitto, which is there if ``MosquittoBroker/unavailableReason`` is nil.
    public static let mosquitto = program("mosquitto") ?? "/usr/sbin/mosquitto"

    /// Whether mosquitto's clients, which talk to every broker, are there.
    public static let haveClients = ["mosquitto_pub", "mosquitto_sub"].allSatisfy { program in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }
}
