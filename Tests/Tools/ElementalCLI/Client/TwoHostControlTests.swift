import Foundation
import TestSupport
import Testing

/// Two hosts with an avahi-daemon each, and the command line on both.
@Suite(.serialized, .enabled(if: TestBed.isAvailable, Comment(rawValue: TestBed.unavailableReason ?? "")))
struct TwoHostControlTests {
    private static let elements = ["--element", "1:Speed:float=0.25", "--element", "2:Aim:float3:udp", "--json"]

    private func publish(_ host: TestBed.Host, _ name: String, _ body: (ChildProcess) async throws -> Void) async throws
    {
        try await host.withChild(
            try ElementalProcess.path, ["publish", "robot", "--name", name] + Self.elements, body)
    }

    @Test("each host finds and controls the other, as service and client at once")
    func bothWays() async throws {
        try await TestBed.with { bed in
            try await publish(bed.a, "Rover A") { onA in
                try await publish(bed.b, "Rover B") { onB in
                    try await onA.nextEvent("published") { $0["name"] == "Rover A" }
                    try await onB.nextEvent("published") { $0["name"] == "Rover B" }
                    for (host, other, service, name) in [
                        (bed.a, bed.b, onB, "Rover B"), (bed.b, bed.a, onA, "Rover A"),
                    ] {
                        let elemental = try ElementalProcess.path
                        try await host.withChild(elemental, ["browse", "--json"]) { browser in
                            let found = try await browser.nextEvent("found") { $0["name"] == name }
                            #expect(found["service"] == "robot")
                            #expect(found["addresses"] == [other.address])
                        }
                        try await host.withChild(elemental, ["set", "robot/\(name)", "Speed=0.5", "Aim=1,2,3"]) { set in
                            try await set.expectExit()
                        }
                        try await service.nextEvent("value") { $0["element"] == "Speed" && $0.number("value") == 0.5 }
                        // Over UDP, so before or after the other.
                        try await service.nextEvent("value") {
                            $0["element"] == "Aim" && $0["value"] == [1.0, 2.0, 3.0]
                        }
                        try await host.withChild(elemental, ["get", "robot/\(name)", "Speed"]) { get in
                            try await get.expectExit()
                            #expect(get.lines(of: .output) == ["Speed=0.5"])
                        }
                    }
                }
            }
        }
    }

    @Test
    func aServiceWhoseProcessIsKilledIsGoneAtOnce() async throws {
        try await TestBed.with { bed in
            try await bed.b.withChild(try ElementalProcess.path, ["browse", "--json"]) { browser in
                try await publish(bed.a, "Rover") { service in
                    try await browser.nextEvent("found") { $0["name"] == "Rover" }
                    service.send(signal: SIGKILL)
                    try await browser.nextEvent("gone") { $0["name"] == "Rover" }
                }
            }
        }
    }

    @Test("a disconnected host stays listed; using its service fails within --timeout")
    func cutOff() async throws {
        try await TestBed.with { bed in
            try await publish(bed.a, "Rover") { service in
                try await service.nextEvent("published")
                let elemental = try ElementalProcess.path
                try await bed.b.withChild(elemental, ["browse", "robot", "--json"]) { browser in
                    try await browser.nextEvent("found")
                    // a's interface goes down: b's daemon keeps its cache.
                    try await bed.cutLink(at: bed.a)
                    try await withGrowingTimeout { seconds in
                        let get = ["get", "robot/Rover", "Speed", "--timeout", seconds]
                        try await bed.b.withChild(elemental, get) { get in
                            let status = try await get.waitForExit()
                            let told = get.lines(of: .error).joined(separator: " ")
                            guard status == .exited(1), told.contains("off or cut off") || told.contains("is gone")
                            else { throw TestSupportError(get.transcript) }
                        }
                    }
                    #expect(!browser.lines(of: .output).contains { $0.contains("\"gone\"") })
                }
            }
        }
    }

    @Test
    func aWatchedServiceOnAHostThatShutsDownSaysWhy() async throws {
        try await TestBed.with { bed in
            try await publish(bed.a, "Rover") { service in
                try await service.nextEvent("published")
                try await bed.b.withChild(try ElementalProcess.path, ["watch", "robot/Rover", "--json"]) { watch in
                    try await watch.nextEvent("value") { $0["element"] == "Speed" }
                    try service.writeLine("Speed=0.75")
                    try await watch.nextEvent("value") { $0.number("value") == 0.75 }
                    service.send(signal: SIGTERM)
                    let end = try await watch.nextEvent("disconnected")
                    #expect(end["code"] == "shutDown")
                    try await service.expectExit()
                }
            }
        }
    }

    @Test("a running browser finds the service again after the daemon was restarted")
    func daemonRestart() async throws {
        try await TestBed.with { bed in
            try await publish(bed.a, "Rover") { service in
                try await service.nextEvent("published")
                try await bed.a.withChild(try ElementalProcess.path, ["browse", "robot", "--json"]) { browser in
                    try await browser.nextEvent("found")
                    await bed.a.avahi.kill()
                    let failed = try await service.nextEvent("publishFailed")
                    try await browser.nextEvent("discoveryFailed") { json in
                        let reason: String? = json["reason"]
                        return reason?.contains("systemctl start avahi-daemon") == true
                    }
                    try await bed.a.avahi.start()
                    try await service.nextEvent("published", after: failed.place) { $0["name"] == "Rover" }
                }
                try await bed.b.withChild(try ElementalProcess.path, ["get", "robot", "Speed"]) { get in
                    try await get.expectExit()
                }
            }
        }
    }

    @Test
    func avahiBrowseSeesOursAndWeSeeAvahiPublishs() async throws {
        try await TestBed.with { bed in
            try await publish(bed.a, "Rover") { service in
                try await service.nextEvent("published")
                try await bed.b.withChild("avahi-browse", ["-rpk", "_robot._tcp"]) { browse in
                    let line = try await browse.nextLine("the resolved service") {
                        $0.hasPrefix("=") && $0.contains("Rover")
                    }
                    #expect(line.text.contains(bed.a.address))
                    #expect(line.text.contains("elemental=1"))
                }
            }
            try await bed.a.withChild("avahi-publish", ["-s", "Old one", "_robot._tcp", "7000"]) { _ in
                try await bed.b.withChild(try ElementalProcess.path, ["browse", "robot", "--json"]) { browser in
                    let found = try await browser.nextEvent("found") { $0["name"] == "Old one" }
                    #expect(found.number("port") == 7000)
                }
            }
        }
    }
}
