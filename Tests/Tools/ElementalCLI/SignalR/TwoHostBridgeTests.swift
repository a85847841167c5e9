import Foundation
import TestSupport
import Testing

/// `elemental signalr bridge --all` between two hosts, one with the hub and one with the services, where no other test's
/// services are found.
@Suite(.serialized, .needsTwoHosts, .enabled(if: Peers.areThere, "the peers are set up by Tests/install signalr"))
struct TwoHostBridgeTests {
    private func publish(
        _ host: TestBed.Host, _ service: String, _ name: String, _ elements: [String],
        _ body: (ChildProcess) async throws -> Void
    ) async throws {
        let publish = ["publish", service, "--name", name, "--security", "open", "--json"]
        try await host.withCommand(publish + elements.flatMap { ["--element", $0] }, body)
    }

    @Test(.backstop)
    func servicesAreBridgedAsTheyComeChangeAndGo() async throws {
        try await TestBed.with { bed in
            let hub = Peers.hub()
            try await bed.b.withChild(hub.path, hub.arguments) { hub in
                let line = try await hub.nextLine(beginningWith: "listening ")
                let port = try #require(line.text.split(separator: " ").last)
                let url = "http://127.0.0.1:\(port)/hub"
                let bridge = [
                    "signalr", "bridge", "--all", "--hub", url, "--control", "--map", "Pace=Speed", "--print", "--json",
                ]
                func tell(_ method: String, _ value: String) async throws {
                    try await bed.b.expectSuccess("signalr", "call", url, "Tell", method, value)
                }
                try await bed.b.withCommand(bridge) { bridge in
                    func passes(_ element: String, of device: String, _ value: Double) async throws {
                        try await bridge.nextEvent("passed") {
                            $0["instance"] == device && $0["direction"] == "toHub" && $0["element"] == element
                                && $0.number("value") == value
                        }
                    }
                    try await publish(bed.a, "lamp", "Desk", ["1:Level:uint8=3"]) { lamp in
                        try await passes("Level", of: "Desk", 3)
                        try await publish(bed.a, "robot", "Rover", ["1:Pace:float=0.5"]) { rover in
                            try await passes("Pace", of: "Rover", 0.5)
                            try await tell("Speed", "0.25")
                            try await rover.nextEvent("value") { $0["element"] == "Pace" && $0.number("value") == 0.25 }
                            let connected = try await bridge.nextEvent("serviceState") {
                                $0["instance"] == "Rover" && $0["state"] == "connected"
                            }
                            rover.send(signal: SIGKILL)
                            try await bridge.nextEvent("serviceState", after: connected.place) {
                                $0["instance"] == "Rover" && $0["state"] != "connected"
                            }
                        }
                        // It returns with other elements, and the other service has been bridged all the time.
                        try await publish(bed.a, "robot", "Rover", ["1:Pace:float=1", "2:Left arm:double=0.75"]) {
                            rover in
                            try await passes("Left arm", of: "Rover", 0.75)
                            try await tell("LeftArm", "0.5")
                            try await rover.nextEvent("value") {
                                $0["element"] == "Left arm" && $0.number("value") == 0.5
                            }
                            try await tell("Level", "7")
                            try await lamp.nextEvent("value") { $0["element"] == "Level" && $0.number("value") == 7 }
                            try await bridge.expectExit(after: SIGINT)
                        }
                    }
                }
            }
        }
    }
}
