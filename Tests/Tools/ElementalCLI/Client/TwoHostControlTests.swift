import Foundation
import TestSupport
import Testing

/// Two hosts with an avahi-daemon each, and the command line on both.
@Suite(.serialized, .needsTwoHosts)
struct TwoHostControlTests {
    private static let elements = ["--element", "1:Speed:float=0.25", "--element", "2:Aim:float3:udp", "--json"]

    private func publish(_ host: TestBed.Host, _ name: String, _ body: (ChildProcess) async throws -> Void) async throws
    {
        try await host.withCommand(["publish", "robot", "--name", name] + Self.elements, body)
    }

    @Test("each host finds and controls the other, as service and client at once")
    func bothWays() async throws {
        try await TestBed.with { bed in
            try await publish(bed.a, "Rover A") { onA in
                try await publish(bed.b, "Rover B") { onB in
                    try await onA.nextEvent("published") { $0["instance"] == "Rover A" }
                    try await onB.nextEvent("published") { $0["instance"] == "Rover B" }
                    for (host, other, service, name) in [
                        (bed.a, bed.b, onB, "Rover B"), (bed.b, bed.a, onA, "Rover A"),
                    ] {
                        try await host.withCommand(["browse", "--json"]) { browser in
                            let found = try await browser.nextEvent("found") { $0["instance"] == name }
                            #expect(found["service"] == "robot")
                            #expect(found["addresses"] == [other.address])
                        }
                        try await host.expectSuccess("set", "robot/\(name)", "Speed=0.5", "Aim=1,2,3")
                        try await service.nextEvent("value") { $0["element"] == "Speed" && $0.number("value") == 0.5 }
                        // Over UDP, so before or after the other.
                        try await service.nextEvent("value") {
                            $0["element"] == "Aim" && $0["value"] == [1.0, 2.0, 3.0]
                        }
                        let get = try await host.expectSuccess("get", "robot/\(name)", "Speed")
                        #expect(get == ["Speed=0.5"])
                    }
                }
            }
        }
    }

    @Test("a disconnected host stays listed; using its service fails within --timeout")
    func cutOff() async throws {
        try await TestBed.with { bed in
            try await publish(bed.a, "Rover") { service in
                try await service.nextEvent("published")
                try await bed.b.withCommand(["browse", "robot", "--json"]) { browser in
                    try await browser.nextEvent("found")
                    // a's interface goes down: b's daemon keeps its cache.
                    try await bed.cutLink(at: bed.a)
                    try await withGrowingTimeout { seconds in
                        try await bed.b.withCommand(["get", "robot/Rover", "Speed", "--timeout", seconds]) { get in
                            let status = try await get.waitForExit()
                            let told = get.lines(of: .error).joined(separator: " ")
                            guard status == .exited(5) || status == .exited(1),
                                told.contains("off or cut off") || told.contains("is gone")
                            else { throw TestSupportError(get.transcript) }
                        }
                    }
                    #expect(!browser.lines(of: .output).contains { $0.contains("\"gone\"") })
                }
            }
        }
    }

    @Test("a running browser finds the service again after the daemon was restarted")
    func daemonRestart() async throws {
        try await TestBed.with { bed in
            try await publish(bed.a, "Rover") { service in
                try await service.nextEvent("published")
                try await bed.a.withCommand(["browse", "robot", "--json"]) { browser in
                    try await browser.nextEvent("found")
                    await bed.a.avahi.kill()
                    let failed = try await service.nextEvent("publishFailed")
                    try await browser.nextEvent("browsingFailed") { json in
                        let message: String? = json["message"]
                        return json["reason"] == "discoveryFailed"
                            && message?.contains("systemctl start avahi-daemon") == true
                    }
                    try await bed.a.avahi.start()
                    try await service.nextEvent("published", after: failed.place) { $0["instance"] == "Rover" }
                }
                try await bed.b.expectSuccess("get", "robot", "Speed")
            }
        }
    }
}
