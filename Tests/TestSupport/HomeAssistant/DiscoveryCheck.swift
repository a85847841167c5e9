import Foundation

/// What Home Assistant demands of the message in which a device says what it has, at
/// `homeassistant/device/ID/config`, and what this package demands besides. Home Assistant refuses such a message, or a
/// component of it, with a line in its log, so that an entity is missing and nobody knows why.
///
/// Written from Home Assistant's own checks (2026.2), not from what the bridge sends.
public struct DiscoveryCheck: @unchecked Sendable {
    // Unchecked, as its components are: Foundation's property-list objects, never mutated after parsing.

    /// A component, with its keys written out.
    public struct Component: @unchecked Sendable {
        public let key: String
        /// Which kind of entity it becomes: "sensor", "number" …
        public let platform: String
        public let fields: [String: Any]

        public func text(_ field: String) -> String? { fields[field] as? String }
        public func number(_ field: String) -> Double? { DiscoveryCheck.number(fields[field]) }
        /// Whether it only removes what was there under its key.
        public var isRemoval: Bool { fields.isEmpty }
    }

    /// Everything that Home Assistant would not take or would take for something else; empty if all is well.
    public private(set) var problems: [String] = []
    public private(set) var components: [Component] = []
    /// What the message says of the device, with its keys written out.
    public private(set) var device: [String: Any] = [:]
    /// The topics that tell whether the device is there.
    public private(set) var availabilityTopics: [String] = []

    private let identifier: String
    private let isAutomatic: Bool

    /// - Parameters:
    ///   - payload: JSON; empty for a device that is removed.
    ///   - isAutomatic: whether device classes follow from units alone; if so, a class is a problem for a unit that
    ///     several classes have.
    public init(topic: String, payload: [UInt8], prefix: String = "homeassistant", isAutomatic: Bool = true) {
        self.isAutomatic = isAutomatic
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        identifier = levels.count == 4 ? String(levels[2]) : ""
        if levels.count != 4 || levels[0] != prefix || levels[1] != "device" || levels[3] != "config" {
            add("the topic is not \(prefix)/device/ID/config: \(topic)")
        }
        checkTopic(topic, "the message itself")
        guard !payload.isEmpty else { return }
        guard let object = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any] else {
            add("the payload is no JSON object")
            return
        }
        check(object)
    }

    private mutating func check(_ object: [String: Any]) {
        let message = writtenOut(object, DiscoveryKeys.abbreviations, "the device level")
        let allowed = DiscoveryKeys.shared.union(["device", "origin", "components"])
        for key in message.keys.sorted() where !allowed.contains(key) {
            add("\(key) at the device level has no effect on the components")
        }
        checkDevice(message["device"])
        checkOrigin(message["origin"])
        checkAvailability(message, "the device level")
        for field in ["state_topic", "command_topic"] {
            if let topic = message[field] { checkTopic(topic, "\(field) of the device level") }
        }
        guard let components = message["components"] as? [String: Any] else {
            return add("cmps is missing, or no object")
        }
        var owners: [String: String] = [:]
        for (key, value) in components.sorted(by: { $0.key < $1.key }) {
            guard let value = value as? [String: Any] else {
                add("component \(key) is no object")
                continue
            }
            let fields = writtenOut(value, DiscoveryKeys.abbreviations, "component \(key)")
            guard let platform = fields["platform"] as? String else {
                add("component \(key) has no p")
                continue
            }
            let component = Component(key: key, platform: platform, fields: fields.filter { $0.key != "platform" })
            self.components.append(component)
            check(component, inherited: message, &owners)
        }
    }

    // MARK: Parts

    private mutating func checkDevice(_ value: Any?) {
        guard let value = value as? [String: Any] else { return add("dev is missing, or no object") }
        device = writtenOut(value, DiscoveryKeys.deviceAbbreviations, "dev")
        for key in device.keys.sorted() where !DiscoveryKeys.device.contains(key) {
            add("dev has no field \(key)")
        }
        let identifiers = device["identifiers"].map { $0 as? [String] ?? ($0 as? String).map { [$0] } ?? [] } ?? []
        let hasConnections = (device["connections"] as? [[String]])?.isEmpty == false
        if identifiers.isEmpty && !hasConnections || identifiers.contains("") {
            add("dev needs ids or cns")
        }
        for field in ["name", "manufacturer", "model", "sw_version"] where device[field] != nil {
            if (device[field] as? String)?.isEmpty != false { add("\(field) of dev is no text") }
        }
        if device["name"] == nil { add("dev has no name") }
    }

    private mutating func checkOrigin(_ value: Any?) {
        guard let value = value as? [String: Any] else { return add("o is missing, or no object") }
        let origin = writtenOut(value, DiscoveryKeys.originAbbreviations, "o")
        if (origin["name"] as? String)?.isEmpty != false { add("o has no name") }
        for key in origin.keys.sorted() where !["name", "sw_version", "support_url"].contains(key) {
            add("o has no field \(key)")
        }
    }

    mutating func checkAvailability(_ fields: [String: Any], _ place: String) {
        if let mode = fields["availability_mode"], !["all", "any", "latest"].contains(mode as? String) {
            add("\(place): avty_mode is \(mode)")
        }
        if let topic = fields["availability_topic"] {
            checkTopic(topic, "avty_t of \(place)")
            if fields["availability"] != nil { add("\(place) has both avty and avty_t") }
            if let topic = topic as? String { availabilityTopics.append(topic) }
        }
        guard let availability = fields["availability"] else { return }
        guard let entries = availability as? [[String: Any]] ?? (availability as? [String: Any]).map({ [$0] }) else {
            return add("avty of \(place) is no list of objects")
        }
        for entry in entries {
            let entry = writtenOut(entry, DiscoveryKeys.abbreviations, "avty of \(place)")
            checkTopic(entry["topic"], "avty of \(place)")
            if let topic = entry["topic"] as? String { availabilityTopics.append(topic) }
            for (field, usual) in [("payload_available", "online"), ("payload_not_available", "offline")] {
                if let payload = entry[field], payload as? String != usual {
                    add("\(field) of \(place) is \(payload), not \(usual)")
                }
            }
        }
        // "latest" is what holds without it: whichever topic spoke last would decide alone.
        if entries.count > 1, fields["availability_mode"] as? String != "all" {
            add("\(place) has several avty and avty_mode is not all")
        }
    }

    private mutating func check(
        _ component: Component, inherited: [String: Any], _ owners: inout [String: String]
    ) {
        let place = "component \(component.key) (\(component.platform))"
        guard let keys = DiscoveryKeys.platforms[component.platform] else { return add("\(place): no such component") }
        guard !component.isRemoval else { return }
        if let identifier = component.text("unique_id"), !identifier.isEmpty {
            if let other = owners.updateValue(component.key, forKey: identifier) {
                add("\(place) and component \(other) have the same uniq_id")
            }
            if !identifier.hasPrefix(self.identifier + "_") {
                add("\(place): uniq_id \(identifier) does not begin with \(self.identifier)_")
            }
        } else {
            add("\(place) has no uniq_id")
        }
        for key in keys.required where component.fields[key] == nil && inherited[key] == nil {
            add("\(place) has no \(key)")
        }
        let allowed = keys.required.union(keys.optional).union(DiscoveryKeys.ofEveryComponent)
        for key in component.fields.keys.sorted() where !allowed.contains(key) {
            add("\(place) has no field \(key)")
        }
        for (key, value) in component.fields.sorted(by: { $0.key < $1.key }) {
            if key.hasSuffix("_topic") { checkTopic(value, "\(key) of \(place)") }
            if key.hasSuffix("_template") { checkTemplate(value, "\(key) of \(place)") }
        }
        guard let qos = Self.integer(component.fields["qos"]), (0...1).contains(qos) else {
            return add("\(place): qos is not 0 or 1")
        }
        if component.fields["retain"] as? Bool == true {
            add("\(place): its commands would be retained, and those are refused")
        }
        checkAvailability(component.fields, place)
        checkFields(of: component, place)
    }

    // MARK: Values

    mutating func add(_ problem: String) { problems.append(problem) }

    /// Whether Home Assistant is told units and classes by a person, or by the bridge's own rules.
    var followsUnits: Bool { isAutomatic }

    mutating func checkTopic(_ value: Any?, _ place: String) {
        guard let topic = value as? String, !topic.isEmpty else {
            return add("\(place): the topic is missing or no text")
        }
        let isPlain = topic.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { level in
            !level.isEmpty
                && level.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F || $0 == 0x2D
                }
        }
        // Other characters are wildcards, or refused by NATS, or not allowed in a discovery topic.
        if !isPlain { add("\(place): a level of \(topic) is empty or not of a-z, 0-9, _ and -") }
        if topic.utf8.count > 65_535 { add("\(place): the topic is too long") }
    }

    private mutating func checkTemplate(_ value: Any, _ place: String) {
        let parts = (value as? String)?.components(separatedBy: "{{") ?? []
        guard parts.count > 1, parts.dropFirst().allSatisfy({ $0.contains("}}") && $0.contains("value") }) else {
            return add("\(place) is no template of the value: \(value)")
        }
    }

    private mutating func writtenOut(
        _ object: [String: Any], _ abbreviations: [String: String], _ place: String
    ) -> [String: Any] {
        var result: [String: Any] = [:]
        for (key, value) in object {
            let long = abbreviations[key] ?? key
            if result.updateValue(value, forKey: long) != nil { add("\(place) has \(long) twice") }
            if value is NSNull { add("\(place): \(long) is null") }
        }
        return result
    }

    /// A JSON number, which a boolean is not.
    static func number(_ value: Any?) -> Double? {
        // A cast to Bool would succeed for 0 and 1, too.
        guard let number = value as? NSNumber, number.objCType.pointee != CChar(bitPattern: 0x63) else { return nil }
        return number.doubleValue
    }

    static func integer(_ value: Any?) -> Int? { number(value).flatMap { Int(exactly: $0) } }
}
