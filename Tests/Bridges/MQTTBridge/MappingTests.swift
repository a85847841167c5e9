import Elemental
import ElementalFollowing
import NIOCore
import TestSupport
import Testing

@testable import MQTTBridge

/// What elements are in Home Assistant.
struct MappingTests {
    private static func element(
        _ id: Int, _ type: ElementType, unit: String = "", range: ClosedRange<Double>? = nil, step: Double? = nil,
        choices: [ElementChoice] = [], access: Access = .readWrite, name: String? = nil
    ) throws -> ElementDefinition {
        try ElementDefinition(
            id: id, name: name ?? "Element \(id)", type: type, unit: unit, range: range, step: step, choices: choices,
            access: access)
    }

    private static func message(
        _ elements: [ElementDefinition], canSet: Bool = true, as components: [String: MQTTComponent] = [:],
        pictureType: String? = nil
    ) throws -> (message: DiscoveryMessage, problems: [String]) {
        let topics = try BridgeTopics(base: "elemental", id: "pi")
        let service = try topics.service(ServiceKey(service: "robot", name: "Rover"))
        let draft = DiscoveryDraft(
            topics: service, bridge: topics.bridge.name, name: "Rover", service: "robot",
            elements: try MQTTElement.all(of: try ElementCatalogue(elements), service),
            pictureTypes: elements.map { _ in pictureType }, retained: RetainedDiscovery(), canSet: canSet,
            choices: components)
        let message = draft.message()
        return (message, message.problems.map(\.message))
    }

    /// What a checker that knows Home Assistant's rules finds in the message, and the platforms of the components.
    private static func check(
        _ elements: [ElementDefinition], canSet: Bool = true, as components: [String: MQTTComponent] = [:],
        pictureType: String? = nil
    ) throws -> (problems: [String], components: [DiscoveryCheck.Component]) {
        let (message, _) = try message(elements, canSet: canSet, as: components, pictureType: pictureType)
        let check = DiscoveryCheck(
            topic: "homeassistant/device/elemental_robot_rover/config",
            payload: Array(message.payload().readableBytesView), isAutomatic: components.isEmpty)
        return (check.problems, check.components)
    }

    private static func platforms(
        _ element: ElementDefinition, canSet: Bool = true, pictureType: String? = nil
    ) throws -> [String] {
        try message([element], canSet: canSet, pictureType: pictureType).message.components.map(\.platform)
    }

    @Test(arguments: ElementType.allCases)
    func everyTypeIsAsHomeAssistantWantsIt(type: ElementType) throws {
        let accesses: [Access] = [.read, .write, .readWrite]
        let elements = try accesses.enumerated().map { try Self.element($0.offset, type, access: $0.element) }
        for canSet in [true, false] {
            let (problems, components) = try Self.check(elements, canSet: canSet, pictureType: "image/png")
            #expect(problems.isEmpty, "\(problems)")
            #expect(canSet || components.allSatisfy { $0.fields["cmd_t"] == nil })
        }
    }

    @Test
    func theTableOfTheDocumentationIsTrue() throws {
        let colours = [ElementChoice(.uint8(0), "black"), ElementChoice(.uint8(1), "white")]
        #expect(try Self.platforms(Self.element(1, .bool)) == ["switch"])
        #expect(try Self.platforms(Self.element(1, .bool), canSet: false) == ["binary_sensor"])
        #expect(try Self.platforms(Self.element(1, .bool, access: .read)) == ["binary_sensor"])
        #expect(try Self.platforms(Self.element(1, .float)) == ["number"])
        #expect(try Self.platforms(Self.element(1, .float), canSet: false) == ["sensor"])
        #expect(try Self.platforms(Self.element(1, .float, access: .write), canSet: false) == [])
        #expect(try Self.platforms(Self.element(1, .uint64)) == ["text"])
        #expect(try Self.platforms(Self.element(1, .uint64, range: 0...1000)) == ["number"])
        #expect(try Self.platforms(Self.element(1, .int8, range: 5...5)) == ["text"])
        #expect(try Self.platforms(Self.element(1, .uint8, choices: colours)) == ["select"])
        #expect(try Self.platforms(Self.element(1, .uint8, choices: colours, access: .read)) == ["sensor"])
        #expect(try Self.platforms(Self.element(1, .float, range: 0...0.0001)) == ["text"])
        #expect(try Self.platforms(Self.element(1, .float, range: 0...0.01)) == ["number"])
        #expect(try Self.platforms(Self.element(1, .string)) == ["text"])
        #expect(try Self.platforms(Self.element(1, .float3)) == ["number", "number", "number"])
        #expect(try Self.platforms(Self.element(1, .float3, access: .write)) == ["text"])
        #expect(try Self.platforms(Self.element(1, .float4, access: .read)) == Array(repeating: "sensor", count: 4))
        #expect(try Self.platforms(Self.element(1, .float4x4)) == [])
        #expect(try Self.platforms(Self.element(1, .data)) == [])
        #expect(try Self.platforms(Self.element(1, .data), pictureType: "image/png") == ["image"])
    }

    @Test
    func numbersHaveBoundsAndSteps() throws {
        let elements = [
            try Self.element(1, .float, range: Double(Float(0))...Double(Float(0.7))),
            try Self.element(2, .float, range: -1...1, step: 0.0001),
            try Self.element(3, .int16),
            try Self.element(4, .double, range: 0...5000),
            try Self.element(5, .uint8, step: 5),
            try Self.element(6, .float, unit: "°C", step: Double(Float(0.1)), access: .read),
        ]
        let (problems, components) = try Self.check(elements)
        #expect(problems.isEmpty, "\(problems)")
        func number(_ key: String, _ field: String) -> Double? {
            components.first { $0.key == key }?.number(field)
        }
        // Not 0.699999988079071, which the value 0.7 would be above.
        #expect(number("1", "max") == 0.7)
        #expect(number("1", "step") == 0.001)
        #expect(number("2", "step") == 0.001)
        #expect(number("3", "min") == -32768 && number("3", "max") == 32767 && number("3", "step") == 1)
        #expect(number("4", "step") == 5)
        #expect(number("5", "step") == 5)
        #expect(components.first { $0.key == "6" }?.fields["device_class"] as? String == "temperature")
        #expect(number("6", "suggested_display_precision") == 1)
    }

    @Test
    func whatTheUserWantsIsTold() throws {
        let components: [String: MQTTComponent] = [
            "Brightness": try MQTTComponent(.light),
            "Humidity": try MQTTComponent(.sensor, settings: ["device_class": "humidity", "expire_after": "60"]),
            "Reset": try MQTTComponent(.button), "Key": try MQTTComponent(.event, settings: ["event_types": "a|b"]),
            "Say": try MQTTComponent(.notify), "Code": try MQTTComponent(.none),
        ]
        let elements = [
            try Self.element(1, .float, range: 0...1, name: "Brightness"),
            try Self.element(2, .float, unit: "%", access: .read, name: "Humidity"),
            try Self.element(3, .bool, access: .write, name: "Reset"),
            try Self.element(4, .string, access: .read, name: "Key"),
            try Self.element(5, .string, access: .write, name: "Say"), try Self.element(6, .uint32, name: "Code"),
        ]
        let (problems, told) = try Self.check(elements, as: components)
        #expect(problems.isEmpty, "\(problems)")
        #expect(Set(told.map(\.platform)) == ["light", "sensor", "button", "event", "notify"])
        #expect(told.first { $0.key == "2" }?.number("expire_after") == 60)
    }

    @Test
    func whatIsCalledNoneIsNotUnknown() throws {
        let names = [ElementChoice(.string("none"), "none"), ElementChoice(.string("Red"), "Red")]
        let select = ["Element 2": try MQTTComponent(.select, settings: ["options": "None|Red"])]
        let elements = [try Self.element(1, .string, choices: names), try Self.element(2, .string)]
        let (problems, components) = try Self.check(elements, as: select)
        #expect(problems.isEmpty, "\(problems)")
        #expect(components.map { $0.fields["options"] as? [String] } == [["'none'", "Red"], ["'None'", "Red"]])
        for (component, state) in zip(components, ["none", "None"]) {
            #expect(component.problem(ofState: Array(state.utf8)) == nil)
            #expect(component.text("command_template")?.contains("'none'") == true)
        }
    }

    /// Its steps are not rounded to zero.
    @Test
    func aLightOfANarrowRange() throws {
        let light = ["Element 1": try MQTTComponent(.light)]
        let (_, components) = try Self.check([Self.element(1, .double, range: 0...0.0001)], as: light)
        #expect(components.first?.text("brightness_command_template") == "{{ (value / 255 * 0.0001)|round(7) }}")
    }

    @Test
    func whatCannotBeIsAsItsTypeSays() throws {
        let light = ["Element 1": try MQTTComponent(.light)]
        let (message, problems) = try Self.message([Self.element(1, .float)], as: light)
        #expect(problems.count == 1 && problems[0].contains("'Element 1'"))
        #expect(message.components.map(\.platform) == ["number"])
        let button = ["Element 1": try MQTTComponent(.button)]
        #expect(try Self.message([Self.element(1, .bool)], canSet: false, as: button).problems.count == 1)
    }

    @Test(arguments: ["state_topic", "cmd_t", "unique_id", "availability", "qos", "", "A", "a b"])
    func settingsOfTheBridgeCannotBeChosen(key: String) {
        #expect(throws: MQTTBridgeError.self) { try MQTTComponent(.sensor, settings: [key: "x"]) }
    }

    @Test
    func whatIsToldNoMoreIsRemoved() throws {
        let old = try Self.message([Self.element(1, .bool), Self.element(2, .float), Self.element(3, .float2)]).message
        let new = try Self.message([Self.element(1, .bool), Self.element(2, .string)]).message
        let retained = RetainedDiscovery(old.payload())
        #expect(retained.platforms == ["1": "switch", "2": "number", "3_0": "number", "3_1": "number"])
        #expect(retained.valueTopics["3_0"] == "elemental/robot/rover/element-3-\(Self.suffix(old, "3_0"))")
        #expect(
            Set(retained.availability) == ["elemental/bridge/pi/availability", "elemental/robot/rover/availability"])
        let removals = retained.removals(for: new)
        #expect(removals == ["2": "number", "3_0": "number", "3_1": "number"])
        let check = DiscoveryCheck(
            topic: "homeassistant/device/elemental_robot_rover/config",
            payload: Array(new.payload(removing: removals).readableBytesView))
        #expect(check.problems.isEmpty, "\(check.problems)")
        #expect(Set(check.components.filter(\.isRemoval).map(\.key)) == ["2", "3_0", "3_1"])
        #expect(retained.removals(for: old).isEmpty)
    }

    private static func suffix(_ message: DiscoveryMessage, _ key: String) -> String {
        let topic = RetainedDiscovery(message.payload()).valueTopics[key] ?? ""
        return String(topic.suffix(4))
    }

    @Test(arguments: [
        "", "{", "[]", #"{"cmps":5}"#, #"{"cmps":{"1":5}}"#, #"{"cmps":{"../x":{"p":"number"}}}"#,
        #"{"cmps":{"1":{"p":"\#(String(repeating: "x", count: 100))"}}}"#,
    ])
    func whatOthersRetainedIsNotTrusted(text: String) {
        #expect(RetainedDiscovery(ByteBuffer(string: text)).platforms.isEmpty)
    }

    @Test
    func aConfigurationThatIsTooLongIsNotRead() {
        let entries = (0..<20_000).map { #""\#($0)":{"p":"number"}"# }.joined(separator: ",")
        #expect(RetainedDiscovery(ByteBuffer(string: #"{"cmps":{\#(entries)}}"#)).platforms.isEmpty)
        let some = (0..<2000).map { #""\#($0)":{"p":"number"}"# }.joined(separator: ",")
        #expect(RetainedDiscovery(ByteBuffer(string: #"{"cmps":{\#(some)}}"#)).platforms.count == 512)
    }
}
