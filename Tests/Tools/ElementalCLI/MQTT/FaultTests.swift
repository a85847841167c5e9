import Foundation
import TestSupport
import Testing

/// Whatever fails, everything is right again by itself: with mosquitto, and with two brokers of others.
@Suite(.needsMosquitto)
struct FaultTests {
    private static let elements = ["1:Speed:float:0...1=0.5", "2:Camera:bool=off", "3:Load:double:ro=1"]

    /// Waits until all that belongs to the device is there, from a new subscription.
    private func expectAll(_ port: Int, _ device: DeviceTopics, speed: String, bridge id: String = "tests") async throws
    {
        try await TopicWatch.with(port: port, ["elemental/#", "homeassistant/#"]) { watch in
            try await watch.wait(for: "elemental/bridge/\(id)/availability", toBe: "online")
            try await watch.wait(for: device.availability, toBe: "online")
            try await watch.wait(for: device("speed"), toBe: speed)
            try await watch.wait(for: device("camera"), toBe: "false")
            try await watch.wait(for: device("load"), toBe: "1.0")
            let check = try await watch.discovery(of: device)
            #expect(check.problems == [])
            #expect(check.components.count == 3)
        }
    }

    @Test(.backstop, arguments: BrokerKind.allCases.filter(\.isThere))
    func aBrokerThatEndsAndReturns(kind: BrokerKind) async throws {
        try await kind.with { broker in
            let port = broker.port
            try await Robot.with(Self.elements) { service, target in
                try await BridgeBed.withBridge(port, [target], ["--control", "--id", "tests"]) { bridge in
                    let device = try await TopicWatch.with(port: port, ["elemental/#", "homeassistant/#"]) { watch in
                        let device = try await DeviceTopics.ofAddress(target, in: watch)
                        try await watch.wait(for: device("speed"), toBe: "0.5")
                        try await MosquittoClient.publish(port: port, device("speed/set"), "0.25")
                        try await watch.wait(for: device("speed"), toBe: "0.25")
                        return device
                    }
                    try await expectAll(port, device, speed: "0.25")
                    // Killed, and back with nothing of what was retained; a value changes meanwhile.
                    await broker.kill()
                    let killed = try await bridge.nextEvent("broker") { $0["state"] == "away" }
                    try service.writeLine("Speed=0.75")
                    (broker as? NATSBroker)?.forgetEverything()
                    try await broker.start()
                    let back = try await bridge.nextEvent("broker", after: killed.place) { $0["state"] == "connected" }
                    try await expectAll(port, device, speed: "0.75")
                    // Ended in good order, and back with what it has stored, which is then old.
                    try await broker.stop()
                    let stopped = try await bridge.nextEvent("broker", after: back.place) { $0["state"] == "away" }
                    try service.writeLine("Speed=0.125")
                    try await broker.start()
                    try await bridge.nextEvent("broker", after: stopped.place) { $0["state"] == "connected" }
                    try await expectAll(port, device, speed: "0.125")
                    // It is controlled as before.
                    try await MosquittoClient.publish(port: port, device("camera/set"), "on")
                    try await service.nextEvent("value") { $0["element"] == "Camera" && $0["value"] == true }
                    // The last will, when the bridge is killed.
                    try await TopicWatch.with(port: port, ["elemental/#"]) { watch in
                        bridge.send(signal: SIGKILL)
                        try await watch.wait(for: "elemental/bridge/tests/availability", toBe: "offline")
                    }
                    // And another in its place.
                    try await BridgeBed.withBridge(port, [target], ["--id", "tests"]) { _ in
                        try service.writeLine("Camera=off")
                        try await expectAll(port, device, speed: "0.125")
                    }
                }
            }
        }
    }

    @Test(.backstop)
    func aBrokerThatStallsGetsTheNewestValue() async throws {
        try await BridgeBed.with(["1:Text:string=first", "2:Camera:bool=off"], ["--rate", "0"]) { bed in
            let (text, watch) = (bed.device("text"), bed.watch)
            try await watch.wait(for: text, toBe: "first")
            bed.broker.pause()
            let figures = ProcessFigures(of: bed.bridge)
            let before = try figures.residentMemory
            let padding = String(repeating: "x", count: 4000)
            // More than the system's buffers hold: the bridge keeps the newest for the broker, and not the others.
            let count = 8000
            for number in 1...count { try bed.service.writeLine("Text=\(number) \(padding)") }
            try bed.service.writeLine("Camera=on\nText=last")
            bed.broker.resume()
            try await watch.wait(for: text, toBe: "last")
            try await watch.wait(for: bed.device("camera"), toBe: "true")
            #expect(watch.messages(of: text).count < count)
            expectMemory(try figures.peakMemory - before, below: 30_000)
        }
    }

    @Test(.backstop)
    func aServiceThatEndsAndReturns() async throws {
        let port = try PortLease.port()
        let target = "127.0.0.1:\(port)"
        try await MosquittoBroker.with { broker in
            try await BridgeBed.withBridge(broker.port, [target], ["--control", "--id", "tests"]) { bridge in
                try await TopicWatch.with(port: broker.port) { watch in
                    let device = try await Robot.with(Self.elements, port: port) { service, _ in
                        let device = try await DeviceTopics.ofAddress(target, in: watch)
                        try await watch.wait(for: device.availability, toBe: "online")
                        try service.writeLine("Speed=1")
                        try await watch.wait(for: device("speed"), toBe: "1.0")
                        service.send(signal: SIGKILL)
                        try await watch.wait(for: device.availability, toBe: "offline")
                        return device
                    }
                    // A command to a service that is not there is answered, and not kept for later.
                    try await MosquittoClient.publish(port: broker.port, device("speed/set"), "0.25")
                    try await bridge.nextEvent("notPassed") {
                        $0["element"] == "Speed" && $0["direction"] == "toDevice"
                    }
                    try await Robot.with(Self.elements, port: port) { service, _ in
                        try await watch.wait(for: device.availability, toBe: "online")
                        try await watch.wait(for: device("speed"), toBe: "0.5")
                        try await expectAll(broker.port, device, speed: "0.5")
                        #expect(!service.lines(of: .output).contains { $0.contains("\"event\":\"value\"") })
                    }
                }
            }
        }
    }

    @Test(.backstop)
    func twoBridgesDoNotHarmEachOther() async throws {
        try await BridgeBed.with(Self.elements, ["--control", "--id", "one"]) { bed in
            let (service, watch, device, port) = (bed.service, bed.watch, bed.device, bed.broker.port)
            try await watch.wait(for: device("speed"), toBe: "0.5")
            try await BridgeBed.withBridge(port, [bed.target], ["--control", "--id", "two"]) { two in
                try await expectAll(port, device, speed: "0.5", bridge: "two")
                try await bed.set("speed", "0.25")
                try await watch.wait(for: device("speed"), toBe: "0.25")
                let before = watch.messages.count
                try service.writeLine("Camera=on")
                try await watch.wait(for: device("camera"), toBe: "true")
                try service.writeLine("Camera=off")
                try await watch.wait(for: device("camera"), toBe: "false")
                // They do not answer each other's messages in a circle.
                #expect(watch.messages.count - before < 20)
                try await two.expectExit(after: SIGTERM)
            }
            // The first one is still there, and so is what it tells, also of which bridge it is.
            try await watch.wait(for: "elemental/bridge/two/availability", toBe: "offline")
            try service.writeLine("Speed=0.75")
            try await watch.wait(for: device("speed"), toBe: "0.75")
            try await expectAll(port, device, speed: "0.75", bridge: "one")
            // It follows a moment later, since the first one looks at what is retained before.
            let check = try await watch.discovery(of: device) {
                $0.availabilityTopics.contains("elemental/bridge/one/availability")
            }
            try await watch.wait("that all of it is online") { watch in
                check.availabilityTopics.allSatisfy { watch.newest(of: $0)?.text == "online" } ? true : nil
            }
        }
    }

    @Test(.backstop)
    func homeAssistantsBirthMakesItTellEverythingAgain() async throws {
        try await BridgeBed.with(Self.elements, ["--id", "tests"]) { bed in
            let (watch, device) = (bed.watch, bed.device)
            _ = try await watch.discovery(of: device)
            try await watch.wait(for: device("load"), toBe: "1.0")
            let before = watch.messages.count
            try await MosquittoClient.publish(port: bed.broker.port, "homeassistant/status", "online")
            var topics: Set = [device.configuration, device.availability, "elemental/bridge/tests/availability"]
            for element in ["speed", "camera", "load"] { topics.insert(device(element)) }
            try await watch.wait("all topics once more") { watch in
                topics.isSubset(of: watch.messages.dropFirst(before).map { $0.topic }) ? true : nil
            }
            for message in watch.messages.dropFirst(before) where topics.contains(message.topic) {
                #expect(!message.payload.isEmpty, "\(message.topic)")
            }
        }
    }
}
