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
        /// Values came faster than the disk took them: so many are missing before this event.
        case lost
    }

    /// What happened.
    public let kind: Kind
    /// The service's name; `nil` if it was recorded by host and port, and for values of any service that are missing.
    public let service: String?
    /// The name of the service's instance, or the host and port.
    public let instance: String?
    /// For ``Kind/connected``: which of the service's catalogues holds from now on, from 0.
    public let catalogue: Int?
    /// Why, if that is known. Text from the network may be in it.
    public let reason: String?
    /// For ``Kind/lost``: how many values.
    public let count: Int?

    init(
        _ kind: Kind, service: String? = nil, instance: String? = nil, catalogue: Int? = nil, reason: String? = nil,
        count: Int? = nil
    ) {
        self.kind = kind
        self.service = service
        self.instance = instance
        self.catalogue = catalogue
        self.reason = reason
        self.count = count
    }

    /// Where events are in a file. Other tools show them there.
    static let topic = "elemental/events"
    static let schemaID: UInt16 = 100

    static var schema: MCAP.Schema {
        let number = JSONText.object([("type", .string("integer"))])
        let string = JSONText.object([("type", .string("string"))])
        let schema = JSONText.object([
            ("title", .string("elemental.event")), ("type", .string("object")),
            (
                "properties",
                .object([
                    ("event", string), ("service", string), ("instance", string), ("catalogue", number),
                    ("reason", string), ("count", number),
                ])
            ),
        ])
        return MCAP.Schema(
            id: schemaID, name: "elemental.event", encoding: "jsonschema", data: Array(schema.text.utf8))
    }

    static func channel(_ id: UInt16) -> MCAP.Channel {
        MCAP.Channel(
            id: id, schemaID: schemaID, topic: topic, messageEncoding: "json", metadata: [("elemental", "events")])
    }

    static func isChannel(_ channel: MCAP.Channel) -> Bool {
        channel.messageEncoding == "json" && channel.metadata.contains { $0 == ("elemental", "events") }
    }

    /// The event as a message.
    var message: String {
        var members: JSONText.Members = [("event", .string(kind.rawValue))]
        if let service { members.append(("service", .string(service))) }
        if let instance { members.append(("instance", .string(instance))) }
        if let catalogue { members.append(("catalogue", .integer(catalogue))) }
        if let reason { members.append(("reason", .string(reason))) }
        if let count { members.append(("count", .integer(count))) }
        return JSONText.object(members).text
    }

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
            kind, service: texts["service"], instance: texts["instance"], catalogue: numbers["catalogue"],
            reason: texts["reason"], count: numbers["count"])
    }
}
