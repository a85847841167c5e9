import Foundation
import TestSupport
import Testing

/// The check of discovery messages finds what Home Assistant would refuse, and nothing else.
struct DiscoveryCheckTests {
    private static let topic = "homeassistant/device/elemental_robot_rover/config"

    /// A message with one component of each kind, as Home Assistant takes it.
    private static let good = """
        {"dev":{"ids":["elemental_robot_rover"],"name":"Rover","mf":"Elemental","mdl":"robot"},
         "o":{"name":"elemental","sw":"1.0"},
         "avty":[{"t":"elemental/bridge/pi/availability"},{"t":"elemental/robot/rover/availability"}],"avty_mode":"all",
         "cmps":{
          "1":{"p":"number","uniq_id":"elemental_robot_rover_1","name":"Speed","stat_t":"elemental/robot/rover/speed",
            "cmd_t":"elemental/robot/rover/speed/set","min":0,"max":0.7,"step":0.001,"mode":"slider","qos":1,
            "unit_of_meas":"m/s"},
          "2":{"p":"switch","uniq_id":"elemental_robot_rover_2","name":"Camera","stat_t":"elemental/robot/rover/camera",
            "cmd_t":"elemental/robot/rover/camera/set","pl_on":"true","pl_off":"false","qos":1},
          "3":{"p":"sensor","unique_id":"elemental_robot_rover_3","name":"Load","state_topic":"elemental/robot/rover/load",
            "unit_of_measurement":"°C","device_class":"temperature","state_class":"measurement",
            "suggested_display_precision":1,"qos":1},
          "4":{"p":"text","uniq_id":"elemental_robot_rover_4","name":"Label","stat_t":"elemental/robot/rover/label",
            "cmd_t":"elemental/robot/rover/label/set","max":255,"val_tpl":"{{ value[:255] }}","qos":1},
          "5":{"p":"select","uniq_id":"elemental_robot_rover_5","name":"Mode","stat_t":"elemental/robot/rover/mode",
            "cmd_t":"elemental/robot/rover/mode/set","ops":["off","heat"],"qos":1},
          "6":{"p":"image","uniq_id":"elemental_robot_rover_6","name":"View","img_t":"elemental/robot/rover/view",
            "cont_type":"image/png","qos":1},
          "7_x":{"p":"sensor","uniq_id":"elemental_robot_rover_7_x","name":"Aim x","stat_t":"elemental/robot/rover/aim",
            "val_tpl":"{{ value_json[0] }}","stat_cla":"measurement","qos":1},
          "8":{"p":"binary_sensor","uniq_id":"elemental_robot_rover_8","name":"Door","stat_t":"elemental/robot/rover/door",
            "pl_on":"true","pl_off":"false","qos":1},
          "9":{"p":"light","uniq_id":"elemental_robot_rover_9","name":"Lamp","stat_t":"elemental/robot/rover/lamp",
            "cmd_t":"elemental/robot/rover/lamp/set","on_cmd_type":"brightness",
            "bri_cmd_t":"elemental/robot/rover/lamp/set","bri_stat_t":"elemental/robot/rover/lamp",
            "bri_cmd_tpl":"{{ (value/255)|round(3) }}","bri_val_tpl":"{{ (value|float*255)|round(0)|int }}",
            "pl_off":"0","stat_val_tpl":"{{ 'ON' if value|float>0 else '0' }}","qos":1},
          "10":{"p":"button","uniq_id":"elemental_robot_rover_10","name":"Reset",
            "cmd_t":"elemental/robot/rover/reset/set","pl_prs":"true","qos":1},
          "11":{"p":"event","uniq_id":"elemental_robot_rover_11","name":"Key","stat_t":"elemental/robot/rover/key",
            "evt_typ":["pressed"],"qos":1},
          "12":{"p":"sensor"}}}
        """

    private func problems(_ text: String, topic: String = topic) -> [String] {
        DiscoveryCheck(topic: topic, payload: Array(text.utf8)).problems
    }

    @Test
    func aGoodMessageHasNoProblems() {
        let check = DiscoveryCheck(topic: Self.topic, payload: Array(Self.good.utf8))
        #expect(check.problems == [])
        #expect(check.components.count == 12)
        #expect(check.components.filter(\.isRemoval).map(\.key) == ["12"])
        #expect(
            check.availabilityTopics == ["elemental/bridge/pi/availability", "elemental/robot/rover/availability"])
        #expect(check.device["manufacturer"] as? String == "Elemental")
    }

    @Test
    func anEmptyMessageRemovesTheDevice() {
        #expect(problems("") == [])
    }

    @Test(arguments: [
        ("homeassistant/device/a b/config", "of a-z"), ("homeassistant/sensor/x/config", "is not homeassistant/device"),
        ("homeassistant/device/x/y/config", "is not homeassistant/device"),
        ("homeassistant/device//config", "is empty or not"), ("homeassistant/device/Ü/config", "of a-z"),
    ])
    func topics(_ topic: String, _ hint: String) {
        let found = problems("", topic: topic)
        #expect(found.contains { $0.contains(hint) }, "\(found)")
    }

    /// One change each that Home Assistant does not take, and a part of what the check says then.
    @Test(arguments: [
        (#""dev":{"ids":["elemental_robot_rover"],"#, #""dev":{"ids":[],"#, "ids or cns"),
        (#""dev":{"#, #""device_":{"#, "dev is missing"), (#""o":{"#, #""origins":{"#, "o is missing"),
        (#""o":{"name":"elemental","sw":"1.0"}"#, #""o":{"sw":"1.0"}"#, "o has no name"),
        (#""cmps":{"#, #""components_":{"#, "cmps is missing"),
        (#""avty_mode":"all""#, #""avty_mode":"latest""#, "avty_mode is not all"),
        (#""avty_mode":"all""#, #""avty_mode":"both""#, "avty_mode is both"),
        (#""avty_mode":"all""#, #""avty_mode":"all","qos":1"#, "qos at the device level"),
        (#""avty_mode":"all""#, #""avty_mode":"all","unit_of_meas":"V""#, "unit_of_measurement at the device level"),
        (#"{"t":"elemental/bridge/pi/availability"}"#, #"{"t":"elemental/+/availability"}"#, "of a-z"),
        (#"{"t":"elemental/bridge/pi/availability"}"#, #"{"t":"a","pl_avail":"on"}"#, "payload_available"),
        (#""uniq_id":"elemental_robot_rover_2","#, "", "no uniq_id"),
        (#""uniq_id":"elemental_robot_rover_2","#, #""uniq_id":"elemental_robot_rover_1","#, "the same uniq_id"),
        (#""uniq_id":"elemental_robot_rover_2","#, #""uniq_id":"rover_2","#, "does not begin"),
        (#"{"p":"switch","#, "{", "has no p"), (#"{"p":"switch","#, #"{"p":"relay","#, "no such component"),
        (#"{"p":"switch","#, #"{"p":"switch","object_id":"x","#, "no field object_id"),
        (#"{"p":"switch","#, #"{"p":"switch","min":1,"#, "no field min"),
        (#"{"p":"switch","#, #"{"p":"switch","retain":true,"#, "retained"),
        (#"{"p":"switch","#, #"{"p":"switch","command_topic":"a","#, "command_topic twice"),
        (#""cmd_t":"elemental/robot/rover/camera/set","#, "", "no command_topic"),
        (#""cmd_t":"elemental/robot/rover/camera/set","#, #""cmd_t":"elemental/robot/#","#, "of a-z"),
        (#""pl_on":"true","pl_off":"false","qos":1}"#, #""pl_on":"true","pl_off":"false"}"#, "qos"),
        (#""pl_on":"true","pl_off":"false","qos":1}"#, #""pl_on":"true","pl_off":"false","qos":2}"#, "qos"),
        (#""pl_on":"true","pl_off":"false","qos":1}"#, #""pl_on":"true","pl_off":"false","qos":true}"#, "qos"),
        (#""pl_on":"true","pl_off":"false","qos":1}"#, #""pl_on":true,"pl_off":"false","qos":1}"#, "payload_on"),
        (#""pl_on":"true","pl_off":"false","qos":1}"#, #""pl_on":"true","qos":1}"#, "payload_off"),
        (#""min":0,"max":0.7"#, #""min":0"#, "no max"), (#""min":0,"max":0.7"#, #""min":1,"max":0.7"#, "not below"),
        (#""min":0,"max":0.7"#, #""min":0,"max":"0.7""#, "no number"),
        (#""min":0,"max":0.7"#, #""min":false,"max":0.7"#, "no number"),
        (#""max":0.7"#, #""max":0.7000000476837158"#, "printed as a Double"),
        (#""max":0.7"#, #""max":3.4e38"#, "a slider"), (#""step":0.001"#, #""step":0.0005"#, "below 0.001"),
        (#""mode":"slider""#, #""mode":"knob""#, "no mode"), (#""unit_of_meas":"m/s""#, #""unit_of_meas":5"#, "unit"),
        (#""unit_of_meas":"m/s""#, #""unit_of_meas":"m/s","dev_cla":"speed""#, "does not say"),
        (#""unit_of_measurement":"°C""#, #""unit_of_measurement":"C""#, "does not take"),
        (#""unit_of_measurement":"°C","#, "", "does not take no unit"),
        (#""device_class":"temperature""#, #""device_class":"warmth""#, "no device_class"),
        (#""state_class":"measurement""#, #""state_class":"mean""#, "no state_class"),
        (#""suggested_display_precision":1"#, #""suggested_display_precision":-1"#, "precision"),
        (#""state_topic":"elemental/robot/rover/load""#, #""state_topic":"""#, "missing or no text"),
        (#""unit_of_measurement":"°C""#, #""val_tpl":"{{ value[:255] }}","unit_of_measurement":"°C""#, "a text has"),
        (#""max":255"#, #""max":256"#, "between 0 and 255"), (#""max":255"#, #""min":255"#, "between 0 and 255"),
        (#""{{ value[:255] }}""#, #""{{ value[:255]""#, "no template"),
        (#""ops":["off","heat"]"#, #""ops":[]"#, "no list"), (#""ops":["off","heat"]"#, #""ops":["a","a"]"#, "twice"),
        (#""ops":["off","heat"],"#, "", "no options"),
        (#""img_t":"elemental/robot/rover/view","#, "", "no image_topic"),
        (#""image/png""#, #""text/html""#, "content_type"), (#""pl_off":"0","#, "", "payload_off"),
        (#""bri_cmd_t":"elemental/robot/rover/lamp/set","#, "", "no brightness_command_topic"),
        (#"{{ (value/255)|round(3) }}"#, "{{ value }}", "255 steps"), (#"else '0'"#, "else 'OFF'", "never gives 0"),
        (#""evt_typ":["pressed"],"#, "", "no event_types"), (#""name":"Rover""#, #""name":"""#, "no text"),
        (#""name":"Speed""#, #""name":null"#, "null"), ("{\"dev\"", "[{\"dev\"", "no JSON object"),
    ])
    func whatHomeAssistantDoesNotTake(_ old: String, _ new: String, _ hint: String) throws {
        try #require(Self.good.contains(old))
        let found = problems(Self.good.replacing(old, with: new, maxReplacements: 1))
        #expect(found.contains { $0.contains(hint) }, "\(found)")
        // It says nothing else, apart from what follows from the change.
        #expect(found.count <= 2, "\(found)")
    }

    @Test
    func aClassOfAPersonsChoiceMayHaveAnyUnitOfIts() {
        let text = Self.good.replacing(
            "\"unit_of_meas\":\"m/s\"", with: "\"unit_of_meas\":\"m/s\",\"dev_cla\":\"speed\"")
        let check = DiscoveryCheck(topic: Self.topic, payload: Array(text.utf8), isAutomatic: false)
        #expect(check.problems == [])
    }

    @Test(
        arguments: [
            ("1", "0.25", nil), ("1", "0.8", "out of range"), ("1", "nan", "no number"), ("1", "None", nil),
            ("1", "fast", "no number"), ("2", "true", nil), ("2", "on", "neither"), ("3", "21.5", nil),
            ("3", "nan", "no number"), ("3", "None", nil), ("3", "", "no number"),
            ("4", String(repeating: "ö", count: 300), nil), ("4", "", nil), ("5", "heat", nil),
            ("5", "cool", "no option"),
            ("6", "", "empty"), ("7_x", "[0.5,1]", nil), ("7_x", "[]", "no value"), ("7_x", "[null,1]", nil),
            ("7_x", "0.5,1", "no value"), ("8", "false", nil), ("8", "0", "neither"),
        ] as [(String, String, String?)])
    func states(_ key: String, _ payload: String, _ hint: String?) throws {
        let check = DiscoveryCheck(topic: Self.topic, payload: Array(Self.good.utf8))
        let component = try #require(check.components.first { $0.key == key })
        let problem = component.problem(ofState: Array(payload.utf8))
        #expect(hint == nil ? problem == nil : problem?.contains(hint ?? "") == true, "\(problem ?? "no problem")")
    }

    @Test
    func aStateOfInvalidTextIsAProblem() throws {
        let check = DiscoveryCheck(topic: Self.topic, payload: Array(Self.good.utf8))
        let text = try #require(check.components.first { $0.key == "4" })
        #expect(text.problem(ofState: [0xFF, 0xFE]) == "no UTF-8")
    }
}
