internal import Support

/// Something other than a value that a recording tells: a service that was connected or lost, values that are missing.
public struct RecordedEvent: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The service is connected, and its values follow. The elements may be others than before.
        case connected
        /// The service is not connected, for the reason that is given: until it is connected again there are no values.
        case away
        /// The service does not admit the recorder.
        case refused
        /// Values are missing before this event: they came faster than the disk took them or, of a service, its history does
        /// not have them.
        case lost
    }

    /// What happened.
    public internal(set) var kind: Kind
    /// The service's name; `nil` if it was recorded by host and port, and for values of any service that are missing.
    public internal(set) var service: String?
    /// The name of the service's instance, or the host and port.
    public internal(set) var instance: String?
    /// For ``Kind/connected``: which of the service's catalogues holds from now on, from 0.
    public internal(set) var catalogue: Int?
    /// Why, if that is known. Text from the network may be in it.
    public internal(set) var reason: String?
    /// For ``Kind/lost``: how many values, if that is known.
    public internal(set) var count: Int?

    /// Where events are in a file. Other tools show them there.
    static let topic = "elemental/events"
    static let schemaID: UInt16 = 100

    static var schema: MCAP.Schema {
        let types = [
            ("event", "string"), ("service", "string"), ("instance", "string"), ("catalogue", "integer"),
            ("reason", "string"), ("count", "integer"),
        ]
        let schema = JSONText.object([
            ("title", .string("elemental.event")), ("type", .string("object")),
            ("properties", .object(types.map { ($0, .object([("type", .string($1))])) })),
        ])
        return MCAP.Schema(id: schemaID, name: "elemental.event", text: schema.text)
    }

    static func channel(_ id: UInt16) -> MCAP.Channel {
        MCAP.Channel(
            id: id, schemaID: schemaID, topic: topic, messageEncoding: "json", metadata: [("elemental", "events")])
    }

    static func isChannel(_ channel: MCAP.Channel) -> Bool {
        channel.messageEncoding == "json" && channel.metadata.contains { $0 == ("elemental", "events") }
    }

    var message: String {
        let members: [(String, JSONText?)] = [
            ("event", .string(kind.rawValue)), ("service", service.map { .string($0) }),
            ("instance", instance.map { .string($0) }), ("catalogue", catalogue.map { .integer($0) }),
            ("reason", reason.map { .string($0) }), ("count", count.map { .integer($0) }),
        ]
        return JSONText.object(members.compactMap { name, value in value.map { (name, $0) } }).text
    }
}

extension RecordedEvent {
    /// Reads an event; `nil` if it is none, or one that this version does not know.
    init?(message: [UInt8]) {
        var texts: [String: String] = [:]
        var numbers: [String: Int] = [:]
        let isWhole = message.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            return reader.object { name, reader in
                switch name {
                case "event", "service", "instance", "reason": texts[name] = reader.string()
                case "catalogue", "count": numbers[name] = reader.number().flatMap { Int($0) }
                default: return reader.skip() != nil
                }
                return texts[name] != nil || numbers[name] != nil
            }
        }
        guard isWhole, let kind = texts["event"].flatMap({ Kind(rawValue: $0) }) else { return nil }
        self.init(
            kind: kind, service: texts["service"], instance: texts["instance"], catalogue: numbers["catalogue"],
            reason: texts["reason"], count: numbers["count"])
    }
}
