internal import Support

/// How an element appears in Home Assistant if that does not follow from its type: `light`, or
/// `sensor,device_class=humidity`.
public struct MQTTComponent: Sendable, Hashable {
    /// The kinds of entities that elements can be.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An entity type of Home Assistant.
        case binarySensor = "binary_sensor"
        case button, event, image, light, notify, number, select, sensor, text
        case `switch`
        /// Not shown at all.
        case none
    }

    /// The kind of entity.
    public let kind: Kind
    /// Further settings, by Home Assistant's names, such as `device_class`.
    public let settings: [String: String]

    /// Creates a component.
    ///
    /// - Throws: ``MQTTBridgeError`` for an invalid setting, or one that only the bridge may set, such as a topic.
    public init(_ kind: Kind, settings: [String: String] = [:]) throws(MQTTBridgeError) {
        for (key, value) in settings {
            let isName = !key.isEmpty && key.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
            guard isName, key.utf8.count <= 64, value.utf8.count <= 1024 else {
                throw MQTTBridgeError(
                    "'\(key)' is not a valid component setting: use NAME=VALUE, as in device_class=humidity")
            }
            guard !Self.reserved.contains(key), !key.hasSuffix("topic"), !key.hasSuffix("_t") else {
                throw MQTTBridgeError("'\(key)' is set by the bridge; leave it out")
            }
        }
        self.kind = kind
        self.settings = settings
    }

    /// Settings that would break the entity's identity, its topics or its availability.
    private static let reserved: Set<String> = [
        "p", "platform", "uniq_id", "unique_id", "qos", "avty", "availability", "avty_mode", "availability_mode",
        "dev", "device", "o", "origin", "cmps", "components", "object_id", "obj_id", "default_entity_id", "def_ent_id",
    ]

    var options: [String]? {
        (settings["options"] ?? settings["ops"])?.split(separator: "|").map { String($0) }
    }

    /// The settings in JSON: numbers and booleans as such, lists separated by bars as arrays of texts.
    var members: JSONText.Members {
        settings.sorted { $0.key < $1.key }.map { key, value in
            if key == "options" || key == "ops" || key == "event_types" || key == "evt_typ" {
                return (key, .array(value.split(separator: "|").map { .string(String($0)) }))
            }
            switch value {
            case "true": return (key, .bool(true))
            case "false": return (key, .bool(false))
            default:
                // Accepts only numbers that are valid in JSON.
                guard let first = value.utf8.first, first == 0x2D || (0x30...0x39).contains(first),
                    let number = Double(value), number.isFinite, !value.lowercased().hasPrefix("0x")
                else { return (key, .string(value)) }
                return (key, JSONText(number))
            }
        }
    }
}
