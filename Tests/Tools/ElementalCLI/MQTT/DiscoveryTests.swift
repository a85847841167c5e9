import Foundation
import TestSupport
import Testing

/// What Home Assistant is told of a service with everything that a catalogue can have.
@Suite(.needsMosquitto)
struct DiscoveryTests {
    private static let elements = [
        "1:Speed:float:0...0.7:unit m/s=0.5", "2:Camera:bool=on", "3:Aim:float3=1,nan,-0.5", "4:Note:string:ro=seven",
        "5:Mode:uint8:choices off,heat=heat", "6:Big:uint64=18446744073709551615",
        "8:Temp:double:ro:unit °C:step 0.5=21.5", "9:Go:bool:wo", "10:Door:bool:ro=off",
        "11:Label:string=\(String(repeating: "long ", count: 60))",
        "12:Secret:string:wo", "13:Gain:double=0.25", "14:Count:int32:ro=5", "15:Level:int8:0...10=3",
        "16:Pose:float4x4:ro", "17:Blob:data", "18:Side:float2:ro=1,2", "19:Turn:float4=0,0,0,1",
        "20:Voltage:float:ro:unit V=3.3", "21:Humidity:float:ro:unit %=40",
        "22:Wide:int64:-1152921504606846976...1152921504606846976=9007199254740993",
        "23:Colour:string:choices red,green,blue=green", "24:Power:float:wo:0...100",
        "25:Fine:float:0...0.001:step 0.0001=0.0005", "26:State:uint8:ro:choices idle,run=idle",
        "27:Serial:uint64:ro=123", "28:Delay:float:ro:unit µs=1.5", "29:Lux:uint16:unit lx=7",
        "30:Ünï cödé/+#.$:int16=-300", "31:Depth:float:unit mm:ro=nan", "32:Push:float3:wo",
        "33:Filter:string:choices none,blue=none", "34:Word:string=None", "35:Answer:string:ro=None",
        "36:Shape:uint8:ro:choices NONE,round=NONE", "37:Narrow:double:0...0.0001=0.00005",
    ]

    /// The component that each element becomes, by its key: with and without control.
    private static let expected: [(key: String, withControl: String?, without: String?)] = [
        ("1", "number", "sensor"), ("2", "switch", "binary_sensor"), ("3_0", "number", "sensor"),
        ("3_1", "number", "sensor"), ("3_2", "number", "sensor"), ("4", "sensor", "sensor"), ("5", "select", "sensor"),
        ("6", "text", "sensor"), ("7", "image", "image"), ("8", "sensor", "sensor"), ("9", "switch", nil),
        ("10", "binary_sensor", "binary_sensor"), ("11", "text", "sensor"), ("12", "text", nil),
        ("13", "number", "sensor"), ("14", "sensor", "sensor"), ("15", "number", "sensor"), ("16", nil, nil),
        ("17", nil, nil), ("18_0", "sensor", "sensor"), ("18_1", "sensor", "sensor"), ("19_0", "number", "sensor"),
        ("19_1", "number", "sensor"), ("19_2", "number", "sensor"), ("19_3", "number", "sensor"),
        ("20", "sensor", "sensor"), ("21", "sensor", "sensor"), ("22", "text", "sensor"), ("23", "select", "sensor"),
        ("24", "number", nil), ("25", "text", "sensor"), ("26", "sensor", "sensor"), ("27", "sensor", "sensor"),
        ("28", "sensor", "sensor"), ("29", "number", "sensor"), ("30", "number", "sensor"), ("31", "sensor", "sensor"),
        ("32", "text", nil), ("33", "select", "sensor"),
        ("34", "text", "sensor"), ("35", "sensor", "sensor"), ("36", "sensor", "sensor"), ("37", "text", "sensor"),
    ]

    /// The smallest PNG picture: its signature and header are enough to be taken for one.
    private static let picture: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
        0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55,
    ]

    @Test(.backstop, arguments: [true, false])
    func everyElementPassesTheCheck(hasControl: Bool) async throws {
        try await withFolder { folder in
            try Data(Self.picture).write(to: URL(filePath: folder + "/picture"))
            let elements = Self.elements + ["7:View:data=@\(folder)/picture"]
            try await BridgeBed.with(elements, hasControl ? ["--control"] : []) { bed in
                let view = try await bed.watch.wait(for: bed.device("view")) { !$0.isEmpty }
                #expect(view.payload == Self.picture)
                let check = try await bed.watch.discovery(of: bed.device)
                #expect(check.problems == [])
                try await expectComponents(of: check, hasControl: hasControl, bed.watch)
            }
        }
    }

    private func expectComponents(of check: DiscoveryCheck, hasControl: Bool, _ watch: TopicWatch) async throws {
        let components = Dictionary(uniqueKeysWithValues: check.components.map { ($0.key, $0) })
        for (key, withControl, without) in Self.expected {
            let platform = hasControl ? withControl : without
            #expect(components[key]?.platform == platform, "component \(key)")
        }
        #expect(components.count == Self.expected.filter { (hasControl ? $0.withControl : $0.without) != nil }.count)
        // Each of them has a state that Home Assistant takes, apart from those that have no state at all.
        for component in check.components {
            guard let topic = component.text("state_topic") ?? component.text("image_topic") else {
                #expect(["9", "12", "24", "32"].contains(component.key), "component \(component.key) has no state")
                continue
            }
            let message = try await watch.wait("a value at \(topic)") { $0.newest(of: topic) }
            let problem = component.problem(ofState: message.payload)
            #expect(problem == nil, "component \(component.key): \(message.text)")
        }
        for topic in check.availabilityTopics { try await watch.wait(for: topic, toBe: "online") }
        #expect(check.availabilityTopics.count == 2)
        // A few fields that follow from ranges, steps and units.
        let texts = [
            ("7", "content_type", "image/png"), ("8", "device_class", "temperature"), ("20", "device_class", "voltage"),
            ("28", "device_class", "duration"), ("29", "device_class", "illuminance"),
            ("14", "state_class", "measurement"),
        ]
        let controls = [("1", "mode", "slider"), ("13", "mode", "box")]
        for (key, field, text) in texts + (hasControl ? controls : []) {
            #expect(components[key]?.text(field) == text, "\(field) of \(key)")
        }
        #expect(components["8"]?.number("suggested_display_precision") == 1)
        #expect(components["21"]?.fields["device_class"] == nil)
        #expect(components["27"]?.fields["state_class"] == nil)
        guard hasControl else {
            #expect(check.components.allSatisfy { $0.fields["command_topic"] == nil })
            return
        }
        for (key, field, number) in [("1", "max", 0.7), ("15", "step", 1.0)] {
            #expect(components[key]?.number(field) == number, "\(field) of \(key)")
        }
        #expect(components["5"]?.fields["options"] as? [String] == ["off", "heat"])
        #expect(components["23"]?.fields["options"] as? [String] == ["red", "green", "blue"])
    }

    @Test(.backstop)
    func homeAssistantMayHaveAnotherPrefix() async throws {
        try await BridgeBed.with(["1:Speed:float=0.5"], ["--discovery-prefix", "site/HA"]) { bed in
            try await TopicWatch.with(port: bed.broker.port, ["site/HA/#"]) { watch in
                let topic = bed.device.configuration.replacing("homeassistant", with: "site/HA")
                let config = try await watch.wait(for: topic) { !$0.isEmpty }
                // What it starts with makes the bridge tell everything again.
                try await MosquittoClient.publish(port: bed.broker.port, "site/HA/status", "online")
                try await watch.wait("the same again") { $0.messages(of: topic).count > 1 ? true : nil }
                #expect(watch.newest(of: topic)?.payload == config.payload)
                try await ChildProcess.run(
                    ElementalProcess.path,
                    [
                        "mqtt", "forget", bed.target, "--broker", "mqtt://127.0.0.1:\(bed.broker.port)",
                        "--discovery-prefix", "site/HA",
                    ])
                try await watch.wait("the topic empty") {
                    $0.messages(of: topic).contains { $0.payload.isEmpty } ? true : nil
                }
            }
            #expect(!bed.watch.messages.contains { $0.topic.hasPrefix("homeassistant/") })
        }
    }

    @Test(.backstop)
    func whatAPersonSaysWins() async throws {
        let elements = [
            "1:Brightness:float:0...1=0.5", "2:Reset:bool:wo", "3:Humidity:float:ro:unit %=40", "4:Code:string=x",
            "5:Colour:string=black", "6:Key:string:ro",
        ]
        let options = [
            "--control", "--map", "Brightness=light", "--map", "Reset=button", "--map",
            "Humidity=sensor,device_class=humidity", "--map", "Code=none", "--as",
            "Key=event,event_types=pressed|held", "--map", "Colour=select,options=black|white",
        ]
        try await BridgeBed.with(elements, options) { bed in
            let check = try await bed.watch.discovery(of: bed.device, isAutomatic: false)
            #expect(check.problems == [])
            let platforms = Dictionary(uniqueKeysWithValues: check.components.map { ($0.key, $0.platform) })
            #expect(platforms == ["1": "light", "2": "button", "3": "sensor", "5": "select", "6": "event"])
            #expect(check.components.first { $0.key == "3" }?.text("device_class") == "humidity")
            // What Home Assistant sends for a lamp at half, and off.
            for value in ["0.502", "0"] {
                try await bed.set("brightness", value)
                try await bed.watch.wait(for: bed.device("brightness"), toBe: value == "0" ? "0.0" : value)
            }
            try await bed.set("reset", "true")
            try await bed.service.nextEvent("value") { $0["element"] == "Reset" && $0["value"] == true }
        }
    }
}
