import Elemental
internal import ElementalFollowing
internal import ElementalWire
internal import Support

/// Maps an element to entities of Home Assistant.
struct ComponentMapping: Sendable {
    let shown: MQTTElement
    let topics: ServiceTopics
    let canSet: Bool
    /// The content type of the element's pictures, if it has had one as its value.
    let pictureType: String?

    private var element: ElementDefinition { shown.definition }
    private var reads: Bool { shown.reads }
    private var writes: Bool { canSet && shown.writes }

    /// Home Assistant's maximum length of a state in characters. It does not show a longer one.
    static let longestState = 255

    /// - Parameter choice: the user's choice; `nil` for the component that follows from the type.
    /// - Throws: ``MQTTBridgeError`` if the element cannot be what the user has chosen.
    func components(as choice: MQTTComponent? = nil) throws(MQTTBridgeError) -> [Component] {
        guard reads || writes else { return [] }
        if let choice { return try chosen(choice).map { [$0] } ?? [] }
        if element.type.floatCount != nil { return vector }
        return platform.map { [component($0, reads, writes)] } ?? []
    }

    private var platform: String? {
        switch element.type {
        case .bool: return writes ? "switch" : "binary_sensor"
        case .data: return reads && pictureType != nil ? "image" : nil
        case _ where !element.choices.isEmpty: return writes ? "select" : "sensor"
        case .string: return writes ? "text" : "sensor"
        default:
            guard writes else { return "sensor" }
            return element.mustBeText ? "text" : "number"
        }
    }

    private func component(_ platform: String, _ reads: Bool, _ writes: Bool) -> Component {
        var component = base(platform, reads, writes)
        switch platform {
        case "switch", "binary_sensor":
            component.set("pl_on", .string("true"))
            component.set("pl_off", .string("false"))
        case "number": addNumber(to: &component)
        case "select":
            component.set("ops", Self.options(element.choices.map(\.name)))
            if reads { component.set("val_tpl", .string(Self.choiceTemplate)) }
            if writes { component.set("cmd_tpl", .string(#"{{ value[1:-1] if value|lower == "'none'" else value }}"#)) }
        case "text":
            component.set("max", .integer(Self.longestState))
            guard element.type == .string else { break }
            if reads { component.set("val_tpl", .string(Self.textTemplate)) }
            if writes { component.set("cmd_tpl", .string(#"{{ 'None' if value == "'None'" else value }}"#)) }
        case "image":
            component.members.removeAll { $0.key == "stat_t" }
            component.set("img_t", .string(shown.valueTopic.name))
            component.set("cont_type", .string(pictureType ?? "image/png"))
        case "sensor" where !element.choices.isEmpty:
            component.set("dev_cla", .string("enum"))
            component.set("ops", Self.options(element.choices.map(\.name)))
            component.set("val_tpl", .string(Self.choiceTemplate))
        case "sensor" where element.type == .string || element.type == .data:
            component.set("val_tpl", .string(Self.textTemplate))
        case "sensor": addMeasurement(to: &component)
        default: break
        }
        return component
    }

    // Home Assistant treats the state "None" as unknown, for a choice in upper and lower case. Quotes make it a text.
    private static let textTemplate = #"{{ "'None'" if value == 'None' else value[:\#(longestState)] }}"#
    private static let choiceTemplate = #"{{ "'" ~ value ~ "'" if value|lower == 'none' else value }}"#

    /// The names of choices in the form of the templates above.
    private static func options(_ names: [String]) -> JSONText {
        .array(names.map { .string($0.lowercased() == "none" ? "'\($0)'" : $0) })
    }

    /// A sensor or number for each component of a vector, or a text if it can only be set. A matrix is not shown.
    private var vector: [Component] {
        guard element.type != .float4x4, let count = element.type.floatCount else { return [] }
        // Setting one component requires the current values of the others.
        guard reads else { return [component("text", reads, writes)] }
        return (0..<count).map { index in
            var component = base(writes ? "number" : "sensor", reads, writes, index)
            component.set("val_tpl", .string("{{ value_json[\(index)] }}"))
            if writes { addNumber(to: &component) } else { addMeasurement(to: &component) }
            return component
        }
    }

    private func base(_ platform: String, _ reads: Bool, _ writes: Bool, _ index: Int? = nil) -> Component {
        var members: JSONText.Members = []
        // Only vectors have components here, and they have at most four.
        let axis = index.map { " \(["x", "y", "z", "w"][$0 % 4])" } ?? ""
        members.append(("name", .string(element.name + axis)))
        if reads { members.append(("stat_t", .string(shown.valueTopic.name))) }
        if writes, Self.takesCommands.contains(platform) {
            members.append(("cmd_t", .string(topics.set(shown.level, component: index))))
        }
        // Home Assistant reads this only per component, not from the device.
        members.append(("qos", .integer(1)))
        let key = "\(element.id)" + (index.map { "_\($0)" } ?? "")
        return Component(key: key, platform: platform, members: members)
    }

    private static let takesCommands: Set<String> = [
        "button", "light", "notify", "number", "select", "switch", "text",
    ]

    private func addNumber(to component: inout Component) {
        let (low, high) = element.bounds
        component.set("min", .number(low))
        component.set("max", .number(high))
        component.set("step", .number(element.controlStep))
        component.set("mode", .string(element.range == nil ? "box" : "slider"))
        addUnit(to: &component)
    }

    private func addMeasurement(to component: inout Component) {
        // A 64-bit number without unit and range may be an identifier, whose mean is of no use.
        let mayBeIdentifier =
            (element.type == .int64 || element.type == .uint64) && element.unit.isEmpty && element.range == nil
        if !mayBeIdentifier { component.set("stat_cla", .string("measurement")) }
        addUnit(to: &component)
        if let decimals = element.decimals { component.set("sug_dsp_prc", .integer(decimals)) }
    }

    private func addUnit(to component: inout Component) {
        guard !element.unit.isEmpty else { return }
        component.set("unit_of_meas", .string(element.unit))
        if let name = DeviceClass.of(unit: element.unit) { component.set("dev_cla", .string(name)) }
    }

    // MARK: - Choices of the user

    private func chosen(_ choice: MQTTComponent) throws(MQTTBridgeError) -> Component? {
        func refuse(_ reason: String) -> MQTTBridgeError {
            MQTTBridgeError("'\(element.name)' cannot be a \(choice.kind.rawValue): \(reason)")
        }
        var component: Component
        switch choice.kind {
        case .none: return nil
        case .sensor, .binarySensor, .image, .event:
            guard reads else { throw refuse("it cannot be read") }
            component = self.component(choice.kind.rawValue, reads, false)
            if choice.kind == .event, choice.settings["event_types"] == nil, choice.settings["evt_typ"] == nil {
                throw refuse("name its events, as in event_types=pressed|held")
            }
        case .light: component = try light()
        case .button, .notify, .number, .select, .switch, .text:
            guard writes else {
                throw refuse(canSet ? "it cannot be set" : "the bridge sets elements only with --control")
            }
            if choice.kind == .number, !element.type.isNumeric { throw refuse("it is not a number") }
            if choice.kind == .number, element.mustBeText {
                throw refuse("Home Assistant cannot step through its values; use text")
            }
            if choice.kind == .select, element.choices.isEmpty, choice.settings["options"] == nil {
                throw refuse("list its values, as in options=slow|fast")
            }
            let hasState = reads && choice.kind != .button && choice.kind != .notify
            component = self.component(choice.kind.rawValue, hasState, writes)
            if choice.kind == .button { component.set("pl_prs", .string(element.type == .bool ? "true" : "1")) }
        }
        for member in choice.members { component.set(Self.abbreviations[member.key] ?? member.key, member.value) }
        if let names = choice.options { component.set("ops", Self.options(names)) }
        return component
    }

    /// Long names of the settings that the bridge itself writes in their short form, so that one replaces the other.
    private static let abbreviations = [
        "device_class": "dev_cla", "unit_of_measurement": "unit_of_meas", "state_class": "stat_cla",
        "value_template": "val_tpl", "options": "ops", "payload_on": "pl_on", "payload_off": "pl_off",
        "payload_press": "pl_prs", "content_type": "cont_type", "suggested_display_precision": "sug_dsp_prc",
        "event_types": "evt_typ",
    ]

    /// The number of decimals that distinguish 255 steps: 3 for a maximum of 1 or more, more below.
    private static func brightnessDecimals(_ full: Double) -> Int {
        var (decimals, scaled) = (3, full)
        while scaled < 1, decimals < 15 { (decimals, scaled) = (decimals + 1, scaled * 10) }
        return decimals
    }

    private func light() throws(MQTTBridgeError) -> Component {
        guard writes, element.type.isNumeric, let range = element.range, range.lowerBound == 0, range.upperBound > 0
        else {
            throw MQTTBridgeError(
                "'\(element.name)' cannot be a light: it needs a settable number whose range starts at 0")
        }
        let full = element.bounds.high
        var component = base("light", reads, writes)
        component.set("on_cmd_type", .string("brightness"))
        component.set("bri_cmd_t", .string(topics.set(shown.level)))
        let decimals = element.type.isInteger ? "round(0)|int" : "round(\(Self.brightnessDecimals(range.upperBound)))"
        component.set("bri_cmd_tpl", .string("{{ (value / 255 * \(full))|\(decimals) }}"))
        component.set("pl_off", .string("0"))
        if reads {
            component.set("bri_stat_t", .string(shown.valueTopic.name))
            component.set("bri_val_tpl", .string("{{ (value|float / \(full) * 255)|round(0)|int }}"))
            component.set("stat_val_tpl", .string("{{ 'ON' if value|float > 0 else '0' }}"))
        }
        return component
    }
}

struct Component: Sendable {
    /// The key within the device: the element's identifier, for a vector followed by the component's index.
    let key: String
    let platform: String
    /// Its members besides platform and identifier, without topics that all components share.
    var members: JSONText.Members

    /// Sets a member in place, or appends it.
    mutating func set(_ key: String, _ value: JSONText) {
        if let position = members.firstIndex(where: { $0.key == key }) {
            members[position].value = value
        } else {
            members.append((key, value))
        }
    }
}
