internal import Support

/// An entry of a recording that is not a value: a service was connected or lost, or values are missing.
public struct RecordedEvent: Sendable, Hashable {
    /// The kind of event.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The service is connected, and its values follow. Its catalogue may have changed.
        case connected
        /// The service is not connected, for the given reason. There are no values until it is connected again.
        case away
        /// The service does not admit the recorder.
        case refused
        /// Values are missing before this event: they came faster than the disk could write or, with a service given,
        /// its history lacks them.
        case lost
    }

    /// The kind of event.
    public internal(set) var kind: Kind
    /// The service's name; `nil` if it was recorded by host and port, or if missing values may be of any service.
    public internal(set) var service: String?
    /// The name of the service's instance, or the host and port.
    public internal(set) var instance: String?
    /// For ``Kind/connected``: the index of the service's catalogue from now on.
    public internal(set) var catalogue: Int?
    /// The reason, if known. It may contain text from the network.
    public internal(set) var reason: String?
    /// For ``Kind/lost``: the number of values, if known.
    public internal(set) var count: Int?

    /// The topic of events in a file, under which other tools show them.
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
    /// Decodes an event; `nil` if it is invalid, or of a kind that this version does not support.
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
