import Foundation
import TestSupport
import Testing

/// A bridge on one host and surfaces on the other, of which one is outside the networks that are allowed.
@Suite(.needsTwoHosts, .enabled(if: ScenarioScript.osc.isThere, "Tests/install osc has not installed what these need"))
struct OSCTwoHostTests {
    @Test(.backstop)
    func surfacesOfAllowedNetworksAreHeard() async throws {
        try await withFolder { try await expectAllowedSurfaces(state: $0 + "/state") }
    }

    private func expectAllowedSurfaces(state: String) async throws {
        try await TestBed.with { bed in
            let outside = try await bed.addAddress(200, to: bed.b)
            let hosts = ["fd00:5c::1", "fd00:5c::2"]
            for (host, address) in zip([bed.a, bed.b], hosts) {
                try await bed.addAddress(address, length: 64, to: host)
            }
            let synth = [
                "publish", "synth", "--name", "Synth", "--security", "open", "--element", "1:Cutoff:float:0...1=0.5",
                "--stay",
            ]
            let bridge = [
                "osc", "synth", "--control", "--port", "0", "--allow", "\(bed.b.address)/25", "--allow",
                "fd00:5c::/64", "--state", state, "--json",
            ]
            try await bed.a.withCommand(synth) { _ in
                try await bed.a.withCommand(bridge) { bridge in
                    let listening = try await bridge.nextEvent("listening")
                    let ports = try ["port", "queryPort"].map { "\(Int(try #require(listening.number($0))))" }
                    try await bridge.nextEvent("shown") { $0["prefix"] == "/Synth/" }
                    let script = ScenarioScript.osc
                    let arguments = script.arguments(
                        "remote.py", [bed.a.address] + ports + [hosts[0], bed.b.address, outside])
                    try await bed.b.withChild(script.python, arguments) { surfaces in
                        surfaces.closeInput()
                        let status = try await surfaces.waitForExit(within: ScenarioScript.backstop)
                        #expect(status == .exited(0), "\(surfaces.transcript)\n\(bridge.transcript)")
                    }
                    // It was not even told of who is outside.
                    #expect(!bridge.lines(of: .output).contains { $0.contains(outside) })
                }
            }
        }
    }
}
