import Foundation
import TestSupport
import Testing

/// Values of every type, from a service to the broker and back.
@Suite(.needsMosquitto)
struct ValueTests {
    private static let elements = [
        "1:I8:int8=0", "2:I16:int16=0", "3:I32:int32=0", "4:I64:int64=0", "5:U8:uint8=0", "6:U16:uint16=0",
        "7:U32:uint32=0", "8:U64:uint64=0", "9:F:float=0", "10:D:double=0", "11:B:bool=off", "12:S:string=start",
        "13:Raw:data=00", "14:F2:float2=0,0", "15:F3:float3=0,0,0", "16:F4:float4=0,0,0,0", "17:Pose:float4x4",
        "18:Mode:uint8:choices off,heat,cool=off", "19:Colour:string:choices red,green=red", "20:Low:float:0...0.7=0.1",
        "21:Fixed:int32:ro=5", "22:Go:bool:wo", "23:Note:string:wo", "24:Pair:int16:choices 10 ten,20 twenty=10",
    ]

    /// A service with a bridge that sets its elements at any rate.
    private static func with(_ options: [String] = [], _ body: (BridgeBed) async throws -> Void) async throws {
        try await BridgeBed.with(elements, ["--control", "--rate", "0"] + options) { bed in
            try await bed.watch.wait(for: bed.device("pair"), toBe: "ten")
            try await body(bed)
        }
    }

    private static let longText = String(repeating: "größer ", count: 43).prefix(300)

    /// What a service sets, and what it becomes in the topic with Home Assistant, and without it if that is something else.
    private static let values: [(line: String, text: String, plain: String?)] = [
        ("I8=-128", "-128", nil), ("I16=32767", "32767", nil), ("I32=-2147483648", "-2147483648", nil),
        ("I64=-9223372036854775808", "-9223372036854775808", nil), ("I64=9007199254740993", "9007199254740993", nil),
        ("U8=255", "255", nil), ("U16=65535", "65535", nil), ("U32=4294967295", "4294967295", nil),
        ("U64=18446744073709551615", "18446744073709551615", nil), ("F=0.1", "0.1", nil), ("F=1e-07", "1e-07", nil),
        ("F=nan", "None", "nan"), ("F=3.4028235e+38", "3.4028235e+38", nil), ("F=-inf", "None", "-inf"),
        ("F=16777216", "16777216.0", nil), ("D=0.1", "0.1", nil), ("D=1e-07", "1e-07", nil), ("D=inf", "None", "inf"),
        ("D=1.7976931348623157e+308", "1.7976931348623157e+308", nil), ("B=on", "true", nil), ("B=off", "false", nil),
        ("S=grün 🙂", "grün 🙂", nil), ("S=", "", nil), ("S=\(longText)", String(longText), nil),
        ("F2=0.1,-2", "[0.1,-2.0]", nil), ("F3=1,2,3.5", "[1.0,2.0,3.5]", nil),
        ("F4=0,0,0.7071068,1", "[0.0,0.0,0.7071068,1.0]", nil),
        (
            "Pose=1,0,0,0,0,1,0,0,0,0,1,0,1,2,3,1",
            "[1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0,1.0,0.0,1.0,2.0,3.0,1.0]", nil
        ),
        ("Mode=heat", "heat", nil), ("Colour=green", "green", nil), ("Pair=20", "twenty", nil), ("Low=0.7", "0.7", nil),
        ("Fixed=6", "6", nil),
    ]

    @Test(.backstop, arguments: [true, false])
    func everyTypeReachesTheBroker(hasDiscovery: Bool) async throws {
        try await Self.with(hasDiscovery ? [] : ["--discovery", "none"]) { bed in
            let (service, device, watch, port) = (bed.service, bed.device, bed.watch, bed.broker.port)
            for (line, text, plain) in Self.values {
                try service.writeLine(line)
                let topic = device(line.prefix { $0 != "=" }.lowercased())
                try await watch.wait(for: topic, toBe: hasDiscovery ? text : plain ?? text)
            }
            try service.writeLine("Raw=00ff10c328")
            let raw = try await watch.wait(for: device("raw")) { $0.utf8.count > 1 }
            #expect(raw.payload == [0x00, 0xFF, 0x10, 0xC3, 0x28])
            // All of them are retained, for those who ask later, apart from the empty text, which empties the topic.
            try await TopicWatch.with(port: port, ["\(device.base)/#"]) { later in
                try await later.wait(for: device("fixed"), toBe: "6")
                try await later.wait(for: device("raw")) { !$0.isEmpty }
                #expect(later.messages(of: device("u64")).map(\.wasRetained) == [true])
                #expect(later.newest(of: device("go")) == nil)
            }
            let configurations = watch.messages.filter { $0.topic.hasPrefix("homeassistant/") }
            #expect(configurations.isEmpty == !hasDiscovery)
        }
    }

    /// What is published at an element's `/set`, and the element's value then.
    private static let commands: [(topic: String, payload: String, text: String)] = [
        ("i8", "-128", "-128"), ("i8", "5.0", "5"), ("i16", "32767", "32767"), ("i32", "-2147483648", "-2147483648"),
        ("i64", "-9223372036854775808", "-9223372036854775808"), ("i64", "9007199254740993", "9007199254740993"),
        ("u8", "255", "255"), ("u8", "0", "0"), ("u16", "65535", "65535"), ("u32", "4294967295", "4294967295"),
        ("u64", "18446744073709551615", "18446744073709551615"), ("u64", "1", "1"), ("f", "1e-07", "1e-07"),
        ("u8", "21.11111111111111", "21"), ("u64", "9007199254740993.0", "9007199254740993"),
        ("f", "0.25", "0.25"), ("f", "1", "1.0"), ("d", "1e-07", "1e-07"), ("d", "-0.1", "-0.1"), ("b", "true", "true"),
        ("b", "0", "false"), ("b", "on", "true"), ("b", "off", "false"), ("b", "1", "true"), ("b", "false", "false"),
        ("s", "grün 🙂", "grün 🙂"), ("s", "", ""), ("s", String(longText), String(longText)),
        ("f2", "0.1,0.2", "[0.1,0.2]"), ("f3", "[1,2,3.5]", "[1.0,2.0,3.5]"), ("f3/1/set", "7", "[1.0,7.0,3.5]"),
        ("f4/3/set", "1e-07", "[0.0,0.0,0.0,1e-07]"), ("mode", "heat", "heat"), ("mode", "2", "cool"),
        ("colour", "green", "green"), ("pair", "twenty", "twenty"), ("pair", "10", "ten"), ("low", "0.7", "0.7"),
        ("low", "0", "0.0"),
    ]

    @Test(.backstop)
    func everyTypeIsSetFromTheBroker() async throws {
        try await Self.with { bed in
            let (service, device, watch, port) = (bed.service, bed.device, bed.watch, bed.broker.port)
            for (topic, payload, text) in Self.commands {
                let name = topic.split(separator: "/").first.map(String.init) ?? topic
                let set = topic.hasSuffix("/set") ? device(topic) : device("\(topic)/set")
                let count = watch.messages(of: device(name)).count
                try await MosquittoClient.publish(port: port, set, payload)
                try await watch.wait("\(text) at \(name) after \(payload)") { watch in
                    let messages = watch.messages(of: device(name))
                    return messages.count > count && messages.last?.text == text ? true : nil
                }
            }
            let bytes: [UInt8] = [0xFF, 0x00, 0x0A, 0x80]
            try await MosquittoClient.publish(port: port, device("raw/set"), bytes: bytes)
            try await watch.wait("the bytes") { $0.newest(of: device("raw"))?.payload == bytes ? true : nil }
            // A write-only one is set, and has no topic.
            try await MosquittoClient.publish(port: port, device("go/set"), "on")
            try await service.nextEvent("value") { $0["element"] == "Go" && $0["value"] == true }
            #expect(watch.newest(of: device("go")) == nil)
            #expect(!watch.messages.contains { $0.topic.hasSuffix("/refused") })
        }
    }

    /// A command may follow at once, and would be lost before the broker knows who wants it.
    @Test(.backstop)
    func aServiceIsOnlineWhenItsCommandsAreSubscribedTo() async throws {
        let broker = try ScriptedBroker()
        try await Robot.with(["1:Speed:float=0"]) { _, target in
            let arguments = ["mqtt", target, "--broker", broker.url, "--control"]
            try await ChildProcess.with(ElementalProcess.path, arguments) { _ in
                let peer = try await broker.accept()
                var filters: [String] = []
                try await peer.serve { published, subscribed in
                    filters = subscribed
                    return published.contains { $0.hasPrefix("elemental/address/") && $0.hasSuffix("/availability") }
                }
                #expect(filters.contains { $0.hasSuffix("/set") }, "\(filters)")
            }
        }
    }

    /// What no element of this service takes: topic and payload.
    private static let refused: [(topic: String, payload: String)] = [
        ("i8", "128"), ("i8", "-129"), ("i8", "127.5"), ("i8", "nan"), ("i8", ""), ("i8", "five"), ("u8", "-1"),
        ("u8", "256"), ("i64", "9223372036854775808"), ("u64", "18446744073709551616"), ("u64", "1e30"),
        ("u64", String(repeating: "9", count: 1000)), ("f", "1e39"), ("f", ""), ("f", "0,1"), ("d", "1e309"),
        ("d", "one"), ("b", "maybe"), ("b", ""), ("b", "2"), ("f3", "1,2"), ("f3", "[1,2,3,4]"), ("f3", "[1,2,\"3\"]"),
        ("f3", "[[1,2,3]]"), ("f3", ""), ("f3/1/set", ""), ("f3/1/set", "x"), ("mode", "warm"), ("mode", "7"),
        ("mode", ""),
        ("colour", "mauve"), ("pair", "15"), ("low", "0.71"), ("low", "-1"), ("low", "nan"), ("fixed", "7"),
    ]

    @Test(.backstop)
    func whatAnElementDoesNotTakeIsAnswered() async throws {
        try await Self.with { bed in
            let (service, device, watch, port) = (bed.service, bed.device, bed.watch, bed.broker.port)
            func expectRefusal(_ topic: String, _ what: String, _ publish: (String) async throws -> Void) async throws {
                let name = topic.split(separator: "/").first.map(String.init) ?? topic
                let before = try #require(watch.newest(of: device(name)))
                let count = watch.messages(of: device(name)).count
                let answers = watch.messages(of: device("\(name)/refused")).count
                try await publish(topic.hasSuffix("/set") ? device(topic) : device("\(topic)/set"))
                // It says why, and the old value is told again, so that a slider goes back.
                try await watch.wait("an answer to \(what) at \(name)") { watch in
                    watch.messages(of: device("\(name)/refused")).count > answers ? true : nil
                }
                try await watch.wait("the old value again after \(what) at \(name)") { watch in
                    watch.messages(of: device(name)).count > count ? true : nil
                }
                #expect(watch.newest(of: device(name))?.payload == before.payload, "\(what) at \(name)")
                let answer = try #require(watch.newest(of: device("\(name)/refused")))
                #expect(!answer.text.isEmpty && answer.text.count < 500 && !answer.wasRetained, "\(answer)")
            }
            for (topic, payload) in Self.refused {
                try await expectRefusal(topic, "'\(payload.prefix(30))'") {
                    try await MosquittoClient.publish(port: port, $0, payload)
                }
            }
            for (topic, bytes) in [("s", [0x61, 0xFF, 0xC3]), ("i8", [0xC3])] as [(String, [UInt8])] {
                try await expectRefusal(topic, "invalid UTF-8") {
                    try await MosquittoClient.publish(port: port, $0, bytes: bytes)
                }
            }
            // The service has received nothing, apart from what it had.
            let received = service.events("value")
            #expect(received.count == 0, "\(service.transcript)")
        }
    }

    /// Zeros for the rest would move a robot's other axes.
    @Test(.backstop)
    func aComponentIsNotSetWhileTheOthersAreUnknown() async throws {
        try await BridgeBed.with(["1:Arm:float3", "2:Go:bool=off"], ["--control"]) { bed in
            try await bed.watch.wait(for: bed.device("go"), toBe: "false")
            try await bed.set("arm/1", "7")
            try await bed.watch.wait(for: bed.device("arm/refused")) { $0.contains("components are unknown") }
            for (topic, payload, value) in [("arm", "1,2,3", "[1.0,2.0,3.0]"), ("arm/1", "7", "[1.0,7.0,3.0]")] {
                try await bed.set(topic, payload)
                try await bed.watch.wait(for: bed.device("arm"), toBe: value)
                try await bed.service.nextEvent("value")
            }
            #expect(bed.service.events("value").count == 2, "\(bed.service.transcript)")
        }
    }

    @Test(.backstop)
    func retainedCommandsAreRefused() async throws {
        let elements = ["1:Speed:float:0...1=0.5", "2:Camera:bool=off"]
        try await MosquittoBroker.with { broker in
            try await Robot.with(elements) { service, target in
                try await TopicWatch.with(port: broker.port) { watch in
                    // One that is there before the bridge is, which every one of its connections gets.
                    let device = try await BridgeBed.withBridge(broker.port, [target], ["--control"]) { _ in
                        try await DeviceTopics.ofAddress(target, in: watch)
                    }
                    let set = device("speed/set")
                    try await MosquittoClient.publish(port: broker.port, set, "1", isRetained: true)
                    try await BridgeBed.withBridge(broker.port, [target], ["--control"]) { bridge in
                        try await bridge.nextEvent("notPassed") {
                            $0["element"] == "Speed" && $0["direction"] == "toDevice" && $0["reason"] == "notAllowed"
                        }
                        try await MosquittoClient.publish(port: broker.port, set, "0.75")
                        try await watch.wait(for: device("speed"), toBe: "0.75")
                    }
                    let received = service.events("value")
                    #expect(received.map { $0.number("value") } == [0.75], "\(service.transcript)")
                }
            }
        }
    }

    @Test(.backstop)
    func withoutControlNothingIsSet() async throws {
        try await BridgeBed.with(["1:Speed:float:0...1=0.5"]) { bed in
            try await bed.watch.wait(for: bed.device("speed"), toBe: "0.5")
            try await bed.set("speed", "1")
            // A value after it tells that it would have come by now.
            try bed.service.writeLine("Speed=0.75")
            try await bed.watch.wait(for: bed.device("speed"), toBe: "0.75")
            #expect(bed.service.events("value").isEmpty)
        }
    }

    @Test(.backstop)
    func ofAFloodAFewValuesLeaveAndTheNewestOne() async throws {
        // One a second. `LaneTests` tests the rate itself.
        try await BridgeBed.with(["1:Motion:float3:udp:latest=0,0,0", "2:Speed:float=0"], ["--rate", "1"]) { bed in
            try await bed.watch.wait(for: bed.device("speed"), toBe: "0.0")
            for number in 1...600 { try bed.service.writeLine("Speed=\(number)\nMotion=\(number),0,0") }
            try await bed.watch.wait(for: bed.device("speed"), toBe: "600.0")
            try await bed.watch.wait(for: bed.device("motion"), toBe: "[600.0,0.0,0.0]")
            for topic in ["speed", "motion"] { #expect(bed.watch.messages(of: bed.device(topic)).count < 300) }
        }
    }
}
