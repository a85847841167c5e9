import Foundation
import TestSupport
import Testing

/// Services that come, change and go, and how the broker and Home Assistant are told.
@Suite(.needsMosquitto, .needsAvahi)
struct ComingAndGoingTests {
    @Test(.backstop)
    func everyServiceThatIsFoundIsThere() async throws {
        try await PrivateAvahi.with(hostName: "mqtt") { avahi in
            try await MosquittoBroker.with { broker in
                let environment = avahi.environment
                try await BridgeBed.withBridge(
                    broker.port, ["--all"], ["--control", "--id", "tests"], environment: environment
                ) { bridge in
                    try await TopicWatch.with(port: broker.port) { watch in
                        try await watch.wait(for: "elemental/bridge/tests/availability", toBe: "online")
                        let rover = DeviceTopics(base: "elemental/robot/rover")
                        let lamp = DeviceTopics(base: "elemental/lamp/desk")
                        try await BridgeBed.withPublishedService(
                            "lamp", "Desk", ["1:Level:uint8=3", "2:left-arm:bool=on", "3:Left arm:bool=off"],
                            environment: environment
                        ) { desk in
                            try await watch.wait(for: lamp("level"), toBe: "3")
                            try await watch.wait(for: lamp.availability, toBe: "online")
                            // Two names that would meet in plain letters do not meet.
                            try await watch.wait(for: lamp("left-arm"), toBe: "true")
                            try await watch.wait("the other arm") { watch in
                                watch.topics.keys.count { $0.hasPrefix(lamp("left-arm-")) } == 1 ? true : nil
                            }
                            try await BridgeBed.withPublishedService(
                                "robot", "Rover", ["1:Pace:float=0.5"], environment: environment
                            ) { service in
                                try await watch.wait(for: rover("pace"), toBe: "0.5")
                                let check = try await watch.discovery(of: rover)
                                #expect(check.problems == [])
                                #expect(check.device["name"] as? String == "Rover")
                                #expect(check.device["model"] as? String == "robot")
                                #expect(check.components.map { $0.text("unique_id") } == ["elemental_robot_rover_1"])
                                try await MosquittoClient.publish(port: broker.port, rover("pace/set"), "0.25")
                                try await watch.wait(for: rover("pace"), toBe: "0.25")
                                // A crash: nobody says goodbye.
                                service.send(signal: SIGKILL)
                                try await watch.wait(for: rover.availability, toBe: "offline")
                            }
                            // It returns with other elements; the entity of the one that is gone is removed.
                            try await BridgeBed.withPublishedService(
                                "robot", "Rover", ["2:Left arm:double=0.75"], environment: environment
                            ) { service in
                                try await watch.wait(for: rover.availability, toBe: "online")
                                let check = try await watch.discovery(of: rover) {
                                    $0.components.map(\.key) == ["2"]
                                }
                                #expect(check.problems == [])
                                let told = watch.messages(of: rover.configuration).map {
                                    DiscoveryCheck(topic: $0.topic, payload: $0.payload)
                                }
                                #expect(told.contains { $0.components.contains { $0.key == "1" && $0.isRemoval } })
                                #expect(told.allSatisfy { $0.problems == [] })
                                try await watch.wait("that the value of what is gone is no longer retained") { watch in
                                    watch.topics[rover("pace")] == nil ? true : nil
                                }
                                desk.send(signal: SIGTERM)
                                try await watch.wait(for: lamp.availability, toBe: "offline")
                                #expect(watch.newest(of: rover.availability)?.text == "online")
                            }
                        }
                        try await bridge.expectExit(after: SIGINT)
                        try await watch.wait(for: "elemental/bridge/tests/availability", toBe: "offline")
                    }
                }
                try await Self.expectForgotten(broker, environment)
            }
        }
    }

    /// `forget` empties what is retained of one service, without the service, and leaves the others.
    private static func expectForgotten(_ broker: MosquittoBroker, _ environment: [String: String]) async throws {
        let url = "mqtt://127.0.0.1:\(broker.port)"
        for (target, gone) in [("robot/Rover", "robot"), ("lamp", "lamp")] {
            try await ChildProcess.run(
                ElementalProcess.path, ["mqtt", "forget", target, "--broker", url], environment: environment)
            try await TopicWatch.with(port: broker.port) { watch in
                let left = watch.topics.keys.filter { $0.contains("/\(gone)/") || $0.contains("elemental_\(gone)_") }
                #expect(left.isEmpty, "\(left)")
                let others = watch.topics.keys.contains { $0.hasPrefix("elemental/lamp/") }
                #expect(others == (gone == "robot"))
            }
        }
    }

    /// Two names with the same hash: the service that came second has the topics as soon as the first has gone.
    @Test(.backstop)
    func theSecondOfTwoThatClaimATopicIsShownWhenTheFirstGoes() async throws {
        try await PrivateAvahi.with(hostName: "claims") { avahi in
            try await MosquittoBroker.with { broker in
                let environment = avahi.environment
                try await BridgeBed.withBridge(
                    broker.port, ["robot"], ["--control"], environment: environment
                ) { bridge in
                    try await TopicWatch.with(port: broker.port) { watch in
                        let device = DeviceTopics(base: "elemental/robot/arm-10cd")
                        try await BridgeBed.withPublishedService(
                            "robot", "Arm \u{12F}", ["1:Level:uint8=1", "2:Old:bool=on"], environment: environment
                        ) { first in
                            try await watch.wait(for: device("old"), toBe: "true")
                            try await watch.wait(for: device.availability, toBe: "online")
                            try await BridgeBed.withPublishedService(
                                "robot", "Arm \u{272}", ["1:Level:uint8=2"], environment: environment
                            ) { second in
                                try await bridge.nextEvent("notShown") { $0["reason"] == "invalidTopic" }
                                first.send(signal: SIGTERM)
                                try await watch.wait(for: device("level"), toBe: "2")
                                try await watch.wait(for: device.availability, toBe: "online")
                                let check = try await watch.discovery(of: device) { $0.components.map(\.key) == ["1"] }
                                #expect(check.device["name"] as? String == "Arm \u{272}")
                                try await watch.wait("that what only the first has is no longer retained") { watch in
                                    watch.topics[device("old")] == nil ? true : nil
                                }
                                try await MosquittoClient.publish(port: broker.port, device("level/set"), "3")
                                try await second.nextEvent("value") { $0.number("value") == 3 }
                                try await watch.wait(for: device("level"), toBe: "3")
                            }
                        }
                    }
                }
            }
        }
    }

    /// As those of a cloned card, which has the same host name.
    @Test(.backstop)
    func twoBridgesWithOneIDSaySo() async throws {
        try await MosquittoBroker.with { broker in
            try await Robot.with(["1:Pace:float=0.5"]) { _, target in
                try await BridgeBed.withBridge(broker.port, [target], ["--id", "pi"]) { first in
                    try await BridgeBed.withBridge(broker.port, [target], ["--id", "other"]) { other in
                        try await BridgeBed.withBridge(broker.port, [target], ["--id", "pi"]) { second in
                            for bridge in [first, second] {
                                try await bridge.nextEvent("broker") { $0["state"] == "sharedID" && $0["id"] == "pi" }
                            }
                            #expect(!other.events("broker").contains { $0["state"] == "sharedID" })
                        }
                    }
                }
            }
        }
    }

    @Test(.backstop)
    func whatIsGoneWhileNoBridgeRanIsRemoved() async throws {
        let port = try PortLease.port()
        try await MosquittoBroker.with { broker in
            try await TopicWatch.with(port: broker.port) { watch in
                let target = "127.0.0.1:\(port)"
                let device = try await Robot.with(["1:Pace:float=0.5", "2:Level:uint8=3"], port: port) { _, _ in
                    try await BridgeBed.withBridge(broker.port, [target]) { _ in
                        let device = try await DeviceTopics.ofAddress(target, in: watch)
                        _ = try await watch.discovery(of: device)
                        try await watch.wait(for: device("pace"), toBe: "0.5")
                        return device
                    }
                }
                try await Robot.with(["2:Level:uint8=4"], port: port) { _, _ in
                    try await BridgeBed.withBridge(broker.port, [target]) { _ in
                        try await watch.wait(for: device("level"), toBe: "4")
                        _ = try await watch.discovery(of: device) { $0.components.map(\.key) == ["2"] }
                        let told = watch.messages(of: device.configuration).map {
                            DiscoveryCheck(topic: $0.topic, payload: $0.payload)
                        }
                        #expect(told.contains { $0.components.contains { $0.key == "1" && $0.isRemoval } })
                    }
                }
            }
        }
    }
}

struct NoBrokerTests {
    @Test(.backstop)
    func forgettingDoesNotWaitForABroker() async throws {
        let port = try PortLease.port()
        let forget = try await ElementalProcess.run("mqtt", "forget", "lamp", "--broker", "mqtt://127.0.0.1:\(port)")
        #expect(forget.status == .exited(1))
        #expect(forget.errors.contains { $0.contains("nothing listens there") }, "\(forget.errors)")
    }
}
