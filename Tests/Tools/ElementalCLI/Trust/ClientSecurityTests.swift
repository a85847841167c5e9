import Elemental
import ElementalSecurity
import ElementalWire
import Foundation
import TestSupport
import Testing

/// `--security`, `--role` and `--state` of the commands that connect.
struct ClientSecurityTests {
    @Test
    func aClientThatIsNotPairedIsToldWhatToType() async throws {
        try await PairingBed.with { bed in
            for options in [[], ["--security", "open"]] {
                let error = try await Self.failure(
                    ["get", bed.target, "Light", "--json", "--state", bed.state] + options)
                #expect(error.code == "unauthenticated")
                #expect(error.message.contains("elemental pair \(bed.target) --state \(bed.state)"), "\(error)")
            }
            // Connecting makes no identity.
            #expect(!FileManager.default.fileExists(atPath: bed.state))
            #expect(try await bed.failure("get", bed.target, "Light", "--security", "paired").code == "notPaired")
            _ = try await bed.run("trust")
            let error = try await bed.failure("get", bed.target, "Light", "--security", "paired")
            #expect(error.code == "notPaired")
            #expect(error.message.contains("elemental pair \(bed.target)"), "\(error)")
        }
    }

    private static func failure(_ arguments: [String]) async throws -> (code: String, message: String) {
        let result = try await ElementalProcess.run(arguments)
        let error = try #require(result.output.last.flatMap { JSONLine($0) })
        return (error["reason"] ?? "", error["message"] ?? "")
    }

    @Test
    func aClientThatIsNotPairedReadsWhereItMayAndIsToldHowToControl() async throws {
        try await PairingBed.with(.pairedToControl) { bed in
            #expect(try await bed.run("get", bed.target, "Light").output == ["Light=true"])
            for element in [[], ["--element", "1:Light:bool"]] {
                let error = try await Self.failure(
                    ["set", bed.target, "Light=off", "--json", "--state", bed.state] + element)
                #expect(["notAllowed", "notAuthorised"].contains(error.code), "\(error)")
                #expect(error.message.contains("elemental pair \(bed.target)"), "\(error)")
                #expect(error.message.contains("--security paired"), "\(error)")
            }
            try await bed.pair()
            #expect(try await bed.run("set", bed.target, "Light=off").status == .exited(0))
            // Nothing is encrypted when the user says so.
            #expect(try await bed.run("set", bed.target, "Light=on", "--security", "open").status == .exited(4))
        }
    }

    @Test
    func whatOnlyAnAdminMaySetIsSetByOneThatAsksForIt() async throws {
        try await Serving.with { serving in
            let element = "2:Reset:bool:writers admin"
            try await serving.robot("--element", element, "--security", "paired") { _, robot in
                try await expectFailure(serving.run("set", robot, "Reset=on", "--security=paired"), status: 4)
                try await expectSuccess(serving.run("set", robot, "Reset=on", "--security=paired", "--role=admin"))
                try await expectFailure(
                    serving.run("set", robot, "Speed=0.1", "--security=paired", "--role=observe"), status: 4)
            }
        }
    }

    @Test
    func anotherProgramOfTheUserNeedsNoPairing() async throws {
        try await PairingBed.with { bed in
            let own = bed.serviceState.directory
            try await expectSuccess("set", bed.target, "Light=off", "--security", "paired", "--state", own)
            let open = try await PairingBed.start(bed.serviceState, .open, port: 0)
            let error = try await ElementalProcess.run(
                "get", "127.0.0.1:\(try #require(open.port))", "Light", "--security", "paired", "--state", own)
            #expect(error.errors.last?.contains("does not offer encrypted connections") == true, "\(error)")
            await open.stop()
        }
    }

    @Test(arguments: ["trust.json", "identity.pem"])
    func aDamagedStateIsNotConnectedWith(_ file: String) async throws {
        try await PairingBed.with(.open) { bed in
            _ = try await bed.run("trust")
            try Data("{".utf8).write(to: URL(filePath: bed.state + "/" + file))
            let error = try await bed.failure("get", bed.target, "Light")
            #expect(error.code == "corrupt")
            #expect(error.message.contains(file), "\(error)")
            #expect(bed.service.devices.isEmpty)
            #expect(try await bed.run("get", bed.target, "Light", "--security", "open").status == .exited(0))
        }
    }

    @Test
    func aUserWithoutAHomeConnectsToWhatIsOpen() async throws {
        try await PairingBed.with(.open) { bed in
            let unset = ["ELEMENTAL_STATE": "", "STATE_DIRECTORY": "", "XDG_STATE_HOME": "", "HOME": ""]
            let light = try await ChildProcess.run(
                try ElementalProcess.path, ["get", bed.target, "Light"], environment: unset)
            #expect(light == "Light=true")
        }
    }

    /// Another command of the user, who had no identity, pairs what this one reads.
    @Test(.backstop, arguments: ["connect", "connect --reconnect", "watch --json", "watch --reconnect --json"])
    func whatIsPairedMeanwhileTakesEffect(_ text: String) async throws {
        let command = text.split(separator: " ").map(String.init)
        try await PairingBed.with(.pairedToControl) { bed in
            let received = Transcript<Bool>()
            bed.service.onValue(of: PairingBed.light) { value, _ in received.add(value) }
            let arguments = [command[0], bed.target] + command.dropFirst() + ["--state", bed.state]
            try await withCommand(arguments) { process in
                try await eventually { bed.service.devices.map(\.grantedRole) == [.plain] }
                try await bed.pair()
                try await eventually { bed.service.devices.map(\.grantedRole) == [.control] }
                if command[0] == "watch" {
                    let loss = try await process.nextEvent("willReconnect")
                    #expect(loss["reason"] == "pairingChanged")
                    try await process.nextEvent("didReconnect")
                    return
                }
                try await process.nextLine(of: .error) { $0.contains("its pairing has changed: connecting anew") }
                try await process.nextLine(of: .error) { $0.contains(" again") }
                try process.writeLine("set Light=off")
                try await received.wait(for: 1)
                #expect(received.all == [false])
                try process.writeLine("quit")
                try await process.expectExit()
            }
        }
    }

    @Test
    func aServiceWithAnotherKeyInItsPlaceIsNotConnectedTo() async throws {
        try await PairingBed.with { bed in
            try await bed.pair()
            await bed.service.stop()
            let other = try SecurityState(directory: bed.state + "-other")
            let impostor = try await PairingBed.start(other, .paired, port: bed.port)
            let error = try await bed.failure("set", bed.target, "Light=off")
            #expect(error.code == "identityChanged")
            #expect(error.message.contains("elemental trust revoke"), "\(error)")
            try impostor.openPairing()
            let pairing = try await bed.failure("pair", bed.target, "--code", "123456")
            #expect(pairing.code == "identityChanged", "\(pairing)")
            await impostor.stop()
            // In plain too it is not taken for the one that was paired.
            let open = try await PairingBed.start(other, .open, port: bed.port)
            let plain = try await bed.failure("set", bed.target, "Light=off")
            #expect(plain.code == "connectionFailed" && open.devices.isEmpty)
            // What the message says is a way out.
            #expect(plain.message.hasSuffix("\(bed.target) --security open"), "\(plain)")
            #expect(try await bed.run("set", bed.target, "Light=off", "--security", "open").status == .exited(0))
            await open.stop()
        }
    }

    @Test
    func aSessionIsEncrypted() async throws {
        try await PairingBed.with { bed in
            try await bed.pair()
            try await withCommand(["connect", bed.target, "--state", bed.state]) { session in
                try session.writeLine("get Light")
                try await session.nextLine { $0 == "Light=true" }
                #expect(bed.service.devices.map(\.grantedRole) == [.control])
                try session.writeLine("set Light=off")
                try session.writeLine("quit")
                try await session.expectExit()
            }
        }
    }

    @Test(.backstop)
    func aReconnectionIsEncrypted() async throws {
        try await PairingBed.with { bed in
            try await bed.pair()
            try await withCommand(["watch", bed.target, "--reconnect", "--json", "--state", bed.state]) { watch in
                try await watch.nextEvent("value") { $0["value"] == true }
                await bed.service.stop()
                try await watch.nextEvent("willReconnect")
                let again = try await PairingBed.start(bed.serviceState, .paired, port: bed.port)
                try again.send(false, to: PairingBed.light)
                // Events and values are written by separate tasks.
                try await watch.nextEvent("value") { $0["value"] == false }
                try await watch.nextEvent("didReconnect")
                #expect(again.devices.map(\.grantedRole) == [.control])
                await again.stop()
            }
        }
    }

    /// Whoever publishes a service of that kind while the paired one is off would be spoken to in plain.
    @Test
    func whatIsPairedIsNotReplacedByAnotherOfItsKind() async throws {
        try await withFolder { try await expectNoReplacement(with: $0 + "/state") }
    }

    private func expectNoReplacement(with directory: String) async throws {
        let kind = "lamp-\(UUID().uuidString.prefix(6).lowercased())"
        let state = try SecurityState(directory: directory)
        try state.trust.update { peers in
            let lamp = TrustedService(
                fingerprint: Ed25519Identity().fingerprint, service: kind, instance: "Mine", role: .control)
            try peers.pin(lamp, own: state.identity.fingerprint)
        }
        var configuration = ServiceConfiguration()
        configuration.limits.handshakeTimeout = Patience.wait * 9
        configuration.address = "127.0.0.1"
        let stranger = ElementalService(
            kind, displayName: "Stranger", elements: [PairingBed.light], configuration: configuration)
        try stranger.send(true, to: PairingBed.light)
        try await stranger.start()

        for command in [["set", kind, "Light=off"], ["get", kind, "Light"], ["bench", "latency", kind]] {
            let error = try await Self.failure(command + ["--json", "--state", directory])
            #expect(error.code == "notPaired", "\(error)")
            #expect(error.message.contains("'Mine' is"), "\(error)")
            #expect(error.message.contains("elemental pair \(kind)/Stranger --state \(directory)"), "\(error)")
        }
        #expect(stranger.devices.isEmpty)
        // Its name, or that nothing is to be encrypted, says that it is meant.
        for (target, options) in [("\(kind)/Stranger", []), (kind, ["--security", "open"])] {
            let get = try await ChildProcess.run(
                try ElementalProcess.path, ["get", target, "Light", "--state", directory] + options)
            #expect(get == "Light=true")
        }
        await stranger.stop()
    }
}
