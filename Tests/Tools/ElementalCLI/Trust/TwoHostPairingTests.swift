import Foundation
import TestSupport
import Testing

/// Two hosts pair by a code and control each other, while somebody has a copy of every packet between them.
@Suite(.serialized, .needsTwoHosts, .enabled(if: SecurityPeers.areThere, "Tests/install security"), .backstop)
struct TwoHostPairingTests {
    private static let elements = [
        "--element", "1:Nursery lamp:string=out", "--element", "2:Camera aim:float3:udp=0,0,0",
    ]
    private static let lamp = "burning brightly", aim = "0.1234567,-98.76543,2.345678"
    private static let laterLamp = "dimmed for the night", laterAim = "87.65432,-0.7654321,6.543211"

    /// The bytes of numbers as they are on the wire.
    private static func bytes(_ vector: String) -> String {
        vector.split(separator: ",").compactMap { Float($0) }.map { number in
            withUnsafeBytes(of: number.bitPattern.littleEndian) { hexadecimal($0) }
        }.joined()
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// What the two say to each other. The names of the service and its instance are Zeroconf's, and public.
    private static let said =
        [lamp, laterLamp, "Nursery lamp", "Camera aim", "Ada's laptop"].map { hexadecimal($0.utf8) }
        + [bytes(aim), bytes(laterAim)]

    /// How often each is in the packets.
    private static func counts(of wanted: [String], in capture: ChildProcess) async throws -> [Int] {
        try capture.writeLine(wanted.joined(separator: " "))
        let end = try await capture.nextEvent("captured")
        #expect(end.number("lost") == 0)
        #expect(end.number("tcp") ?? 0 > 10)
        #expect(end.number("udp") ?? 0 > 1)
        var counts: [String: Int] = [:]
        for line in capture.lines(of: .output).compactMap({ JSONLine($0) }) where line.event == "found" {
            counts[line["bytes"] ?? ""] = Int(line.number("count") ?? -1)
        }
        return wanted.map { counts[$0] ?? -1 }
    }

    /// Sets both elements from the client's host, and then at the service, which the client sees.
    private static func control(
        _ service: ChildProcess, from host: TestBed.Host, _ options: [String]
    ) async throws {
        let options = ["--name", "Ada's laptop"] + options
        try await host.withCommand(["watch", "robot/Rover", "--json"] + options) { watch in
            try await watch.nextEvent("connected")
            let set = ["set", "robot/Rover", "Nursery lamp=\(lamp)", "Camera aim=\(aim)"]
            try await host.withCommand(set + options) { try await $0.expectExit() }
            for process in [service, watch] { try await expect(lamp, aim, at: process) }
            try service.writeLine("Nursery lamp=\(laterLamp)")
            try service.writeLine("Camera aim=\(laterAim)")
            try await expect(laterLamp, laterAim, at: watch)
        }
    }

    /// Waits for both values, in either order.
    private static func expect(_ lamp: String, _ aim: String, at process: ChildProcess) async throws {
        let numbers = aim.split(separator: ",").compactMap { Float($0) }
        try await process.nextEvent("value") { $0["value"] == lamp }
        try await process.nextEvent("value") { event in
            let value: [Double]? = event["value"]
            return value?.map(Float.init) == numbers
        }
    }

    /// Runs a service on host a, whose packets are captured. `body` gets the options of a client as well.
    private static func captured(
        _ security: String,
        _ body: (_ service: ChildProcess, _ other: TestBed.Host, _ client: [String], _ capture: ChildProcess)
            async throws -> Void
    ) async throws {
        try await TestBed.with { bed in
            try await withFolder { folder in
                try await SecurityPeers.with("capture.py", ["veth0"], namespace: bed.a.namespace) { capture in
                    try await capture.nextEvent("capturing")
                    let robot = ["publish", "robot", "--name", "Rover", "--json", "--security", security]
                    let state = ["--state", folder + "/service"]
                    try await bed.a.withCommand(robot + elements + state) { service in
                        try await service.nextEvent("published")
                        try await body(service, bed.b, ["--state", folder + "/client"], capture)
                    }
                }
            }
        }
    }

    @Test
    func twoHostsPairByACodeAndNothingBetweenThemIsClear() async throws {
        try await Self.captured("paired") { service, other, client, capture in
            // The first start with this state directory: a window opens by itself.
            let code: String = try #require(try await service.nextEvent("pairing")["code"])
            #expect(code.wholeMatch(of: /[0-9]{6}/) != nil)
            try await other.withCommand(["get", "robot/Rover", "Nursery lamp", "--json"] + client) { stranger in
                try await stranger.expectExit(4)
            }
            let pair = ["pair", "robot/Rover", "--json", "--name", "Ada's laptop"]
            try await other.withCommand(pair + client) { pair in
                pair.endInput(with: [code])
                try await pair.expectExit()
                #expect(try await pair.nextEvent("paired")["role"] == "control")
            }
            try await service.nextEvent("paired") { $0["client"] == "Ada's laptop" }
            try await Self.control(service, from: other, client)
            let counts = try await Self.counts(of: Self.said + [Self.hexadecimal(code.utf8)], in: capture)
            #expect(counts == Array(repeating: 0, count: Self.said.count + 1))
        }
    }

    /// That the search finds what is there.
    @Test
    func betweenHostsThatAreNotPairedEverythingIsClear() async throws {
        try await Self.captured("open") { service, other, client, capture in
            try await Self.control(service, from: other, client)
            let counts = try await Self.counts(of: Self.said, in: capture)
            #expect(!counts.contains(0), "\(counts)")
        }
    }
}
