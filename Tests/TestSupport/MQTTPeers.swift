import Foundation

/// The peers of the MQTT tests: brokers and clients of others, set up by `Tests/install mqtt`.
public enum MQTTPeers {
    /// The path of a program that was set up, if it is there.
    static func program(_ name: String) -> String? {
        let path = Repository.path(".build/mqtt-peers/\(name)")
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    /// Why there is no such program, or nil.
    static func missing(_ name: String, of peer: String) -> String? {
        program(name) == nil ? "\(peer) is not there: run Tests/install mqtt" : nil
    }

    static func required(_ name: String, of peer: String) throws -> String {
        guard let program = program(name) else { throw TestSupportError(missing(name, of: peer) ?? "") }
        return program
    }

    /// The path of mosquitto, which is there if ``MosquittoBroker/unavailableReason`` is nil.
    public static let mosquitto = program("mosquitto") ?? "/usr/sbin/mosquitto"

    /// Whether mosquitto's clients, which talk to every broker, are there.
    public static let haveClients = ["mosquitto_pub", "mosquitto_sub"].allSatisfy(ProcessSpawn.isOnPath)
}
