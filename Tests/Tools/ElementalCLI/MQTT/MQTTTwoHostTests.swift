import Foundation
import TestSupport
import Testing

/// Between two hosts whose link is cut: the bridge beside the service, the broker on the other one.
@Suite(.needsTwoHosts, .needsMosquitto)
struct MQTTTwoHostTests {
    @Test(.backstop)
    func theNewestValuesArriveOnceTheLinkIsBack() async throws {
        try await withFolder { try await bridge(settings: $0 + "/settings") }
    }

    private func bridge(settings: String) async throws {
        try await TestBed.with { bed in
            let lines = [
                "listener 1883 \(bed.b.address)", "listener 1884 127.0.0.1", "allow_anonymous true",
                "persistence false", "user root", "log_dest stderr",
            ]
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: settings))
            try await bed.b.withChild(MQTTPeers.mosquitto, ["-c", settings]) { broker in
                try await broker.nextLine(of: .error, "that the broker runs") { $0.hasSuffix(" running") }
                let watch = ["-p", "1884", "-t", "elemental/#", "-v"]
                try await bed.b.withChild("mosquitto_sub", watch) { watch in
                    let bridge = ["mqtt", "--broker", "mqtt://\(bed.b.address)", "--id", "a", "--json", "--rate", "0"]
                    let rover = [
                        "publish", "robot", "--name", "Rover", "--security", "open", "--element", "1:Pace:float=0.5",
                    ]
                    try await bed.a.withCommand(bridge) { bridge in
                        var lost: TranscriptPlace?
                        try await bed.a.withCommand(rover) { rover in
                            try await bridge.nextEvent("serviceState") {
                                $0["instance"] == "Rover" && $0["state"] == "connected"
                            }
                            try await watch.nextLine { $0 == "elemental/robot/rover/pace 0.5" }
                            // The other host's end, so that this one still finds its own service.
                            try await bed.cutLink(at: bed.b)
                            for number in 1...200 { try rover.writeLine("Pace=\(number)") }
                            rover.send(signal: SIGKILL)
                            lost = try await bridge.nextEvent("serviceState") {
                                $0["instance"] == "Rover" && $0["state"] != "connected"
                            }.place
                        }
                        try await bed.a.withCommand(rover) { rover in
                            try await bridge.nextEvent("serviceState", after: lost) {
                                $0["instance"] == "Rover" && $0["state"] == "connected"
                            }
                            try rover.writeLine("Pace=0.25")
                            try await bed.restoreLink()
                            try await watch.nextLine { $0 == "elemental/robot/rover/pace 0.25" }
                            try rover.writeLine("Pace=0.75")
                            let last = try await watch.nextLine { $0 == "elemental/robot/rover/pace 0.75" }
                            bridge.send(signal: SIGKILL)
                            try await watch.nextLine(after: last.place) {
                                $0 == "elemental/bridge/a/availability offline"
                            }
                        }
                    }
                }
            }
        }
    }
}
