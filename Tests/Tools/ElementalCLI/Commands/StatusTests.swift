import ElementalSecurity
import TestSupport
import Testing

@testable import ElementalCLI

/// The exit status of each kind of failure, for every command that can fail so.
struct StatusTests {
    private static let elements = ["1:Speed:float:0...1=0.5", "2:Count:uint8:ro=1"]

    /// Expects that a command fails with that status and an error whose code has it.
    private static func expect(
        _ status: CommandStatus, _ arguments: [String], environment: [String: String] = [:]
    ) async throws {
        try await withCommand(arguments + ["--json"], environment: environment) { child in
            child.closeInput()
            let ended = try await child.waitForExit()
            let code: String? = child.events("error").last?["code"]
            guard ended == .exited(status.rawValue), code.map(CommandStatus.init(code:)) == status,
                child.lines(of: .error).contains(where: { $0.hasPrefix("elemental: ") })
            else { throw TestSupportError("\(arguments) ended with \(ended): \(child.transcript)") }
        }
    }

    /// The commands that connect to a service.
    private static func connecting(to target: String) -> [[String]] {
        [
            ["describe", target], ["get", target, "Speed"], ["set", target, "Speed=1"], ["watch", target],
            ["connect", target], ["bench", "latency", target],
        ]
    }

    /// Expects the same of the commands that follow services until a time is over.
    private static func expectOfFollowing(
        _ targets: [String], _ status: CommandStatus, _ options: [String] = [], environment: [String: String] = [:]
    ) async throws {
        try await withFolder { folder in
            try await withGrowingTimeout { seconds in
                for command in [
                    ["metrics"] + targets + ["--once", "--timeout", seconds],
                    ["record"] + targets + ["--for", seconds, "--to", "\(folder)/\(seconds).mcap"],
                ] { try await expect(status, command + options, environment: environment) }
            }
        }
    }

    @Test(.needsAvahi)
    func aServiceThatIsNotThereIsNotFound() async throws {
        try await PrivateAvahi.with(hostName: "nobody") { avahi in
            for command in Self.connecting(to: "nothing") + [["pair", "nothing"], ["pair", "--open", "nothing"]] {
                try await withFolder { folder in
                    _ = try await ElementalProcess.run("trust", "--state", folder + "/state")
                    try await Self.expect(
                        .notFound, command + ["--timeout", "0.5", "--state", folder + "/state"],
                        environment: avahi.environment)
                }
            }
            try await Self.expectOfFollowing(["nothing"], .notFound, environment: avahi.environment)
        }
    }

    @Test
    func anElementThatIsNotThereIsNotFound() async throws {
        try await Robot.with(Self.elements) { _, target in
            try await withFolder { folder in
                for command in [
                    ["get", target, "Sped"], ["watch", target, "Sped"], ["set", target, "Sped=1"],
                    ["set", target, "Speed=fast", "Sped=1"], ["record", target, "--to", folder + "/x.mcap", "Sped"],
                ] { try await Self.expect(.notFound, command) }
            }
        }
    }

    @Test(arguments: [
        ["info", "/nowhere"], ["replay", "/nowhere", "--publish", "--unlisted"],
        ["replay", "/nowhere", "--to", "lamp"],
        ["publish", "pi", "--from", "/nowhere"], ["c64", "run", "/nowhere", "--frames", "1"],
        ["c64", "gateway", "--unlisted", "--virtual", "/nowhere"],
        ["c64", "cpu-test", "/nowhere", "--load", "0", "--start", "0", "--success", "0"],
        ["signalr", "call", "http://127.0.0.1:1/", "Add", "--token", "@/nowhere"],
        ["mqtt", "lamp", "--broker", "mqtt://ada@127.0.0.1:1", "--password", "@/nowhere"],
        ["metrics", "--token", "@/nowhere"], ["dashboard", "--token", "@/nowhere"],
        ["trust", "revoke", "Nobody"], ["get", "no..host:80", "Speed"],
    ])
    func aFileAHostOrAPeerThatIsNotThereIsNotFound(_ command: [String]) async throws {
        try await Self.expect(.notFound, command)
    }

    @Test
    func aValueThatIsNotTakenIsRefused() async throws {
        try await Robot.with(Self.elements) { _, target in
            for command in [
                ["set", target, "Speed=2"], ["set", target, "Speed=fast"], ["set", target, "Count=2"],
                // The service checks what the client does not know.
                ["set", target, "Speed=2", "--element", "1:Speed:float"],
            ] { try await Self.expect(.refused, command) }
        }
    }

    @Test
    func whoIsNotPairedIsToldApart() async throws {
        try await PairingBed.with { bed in
            let state = ["--state", bed.state]
            for command in Self.connecting(to: bed.target) + [["pair", "--open", bed.target]] {
                try await Self.expect(.notAuthorised, command + state)
            }
            try await Self.expectOfFollowing([bed.target], .notAuthorised, state)
            // No window is open.
            try await Self.expect(.refused, ["pair", bed.target, "--code", "123456"] + state)
        }
    }

    @Test
    func aRoleThatIsTooSmallIsNotAuthorised() async throws {
        try await PairingBed.with { bed in
            let code = try await bed.openWindow(role: .observe)
            try await expectSuccess(bed.run("pair", bed.target, input: [code]))
            for element in [[], ["--element", "1:Light:bool"]] {
                try await Self.expect(
                    .notAuthorised, ["set", bed.target, "Light=off", "--state", bed.state] + element)
            }
        }
        // What no client may set is refused to each of them.
        try await Serving.with { serving in
            let elements = ["--element", "2:Reset:bool:writers admin", "--element", "3:Count:uint8:ro=1"]
            try await serving.robot(elements[0], elements[1], elements[2], elements[3], "--security", "paired") {
                _, target in
                let options = ["--security", "paired", "--state", serving.state]
                for role in ["observe", "control"] {
                    let set = ["set", target, "--role", role] + options
                    try await Self.expect(.notAuthorised, set + ["Reset=on"])
                    try await Self.expect(.refused, set + ["Count=2"])
                }
                try await expectSuccess(ElementalProcess.run(["set", target, "Reset=on", "--role", "admin"] + options))
            }
        }
    }

    @Test
    func anotherKeyUnderAPinnedNameIsAnotherIdentity() async throws {
        try await PairingBed.with { bed in
            try await bed.pair()
            await bed.service.stop()
            let other = try SecurityState(directory: bed.state + "-other")
            let impostor = try await PairingBed.start(other, .paired, port: bed.port)
            let state = ["--state", bed.state]
            for command in Self.connecting(to: bed.target) + [["pair", bed.target, "--code", "123456"]] {
                try await Self.expect(.otherIdentity, command + state)
            }
            let laptop = ["trust", "add", "--name", "Laptop", "--role", "control"]
            try await expectSuccess(ElementalProcess.run(laptop + ["\(other.identity.fingerprint)"] + state))
            try await Self.expect(.otherIdentity, laptop + ["\(Ed25519Identity().fingerprint)"] + state)
            // Of several failures the gravest.
            let nobody = "127.0.0.1:\(try PortLease.port())"
            try await Self.expectOfFollowing([nobody, bed.target], .otherIdentity, state)
            await impostor.stop()
        }
    }

    @Test
    func whatDoesNotComeInTimeIsTimedOut() async throws {
        try await Robot.with(Self.elements + ["3:Unset:bool"]) { _, target in
            try await withGrowingTimeout { seconds in
                try await Self.expect(.timedOut, ["get", target, "Unset", "--timeout", seconds])
                try await Self.expect(
                    .timedOut, ["get", target, "Unset"], environment: ["ELEMENTAL_TIMEOUT": seconds])
                try await Self.expect(.timedOut, ["watch", target, "Unset", "--count", "1", "--for", seconds])
            }
        }
        // It accepts connections and says nothing.
        let (listener, port) = try RawSocket.listen()
        try await Self.expect(.timedOut, ["get", "127.0.0.1:\(port)", "Speed", "--timeout", "0.5"])
        withExtendedLifetime(listener) {}
    }

    @Test
    func anEnvironmentWithoutATimeIsAMistake() async throws {
        try await withCommand(["get", "robot", "Speed"], environment: ["ELEMENTAL_TIMEOUT": "soon"]) { get in
            #expect(try await get.waitForExit() == .exited(64))
            let error = try #require(get.lines(of: .error).first)
            #expect(error.contains("ELEMENTAL_TIMEOUT takes seconds") && error.contains("'soon'"), "\(error)")
        }
    }
}
