import Elemental
import ElementalSecurity
import Foundation
import QRCode
import TestSupport
import Testing

@testable import ElementalCLI

/// `elemental open-pairing`, and QR codes.
struct PairOpeningTests {
    /// Runs a robot whose identity is there, so that it opens no window by itself.
    private static func withRobot(_ body: (Serving, ChildProcess, _ target: String) async throws -> Void) async throws {
        try await Serving.with { serving in
            _ = try await serving.run("trust")
            try await serving.robot { service, target in
                try await service.nextRemark("no client is paired with robot")
                try await body(serving, service, target)
            }
        }
    }

    @Test
    func theServicesUserOpensTheWindowAndAClientPairs() async throws {
        try await Self.withRobot { serving, service, target in
            let opened = try await serving.run("open-pairing", target, "--role", "observe", "--for", "600", "--json")
            #expect(opened.status == .exited(0), "\(opened)")
            // It may be another user's directory than the service's.
            #expect(opened.errors.contains { $0.contains("with the identity in \(serving.state)") }, "\(opened)")
            let event = try #require(JSONLine(opened.output.first ?? ""))
            #expect(event.event == "pairing")
            #expect((1...600).contains(event.number("seconds") ?? 0))
            #expect(event["role"] == "observe")
            let code = try #require(event["code"] as String?)
            // The service itself does not show what its admin sees.
            let said = try await service.nextEvent("pairing")
            #expect((said["code"] as String?) == nil)
            #expect(!service.transcript.contains(code))
            let laptop = Serving(state: serving.state + "-laptop")
            try await expectSuccess(laptop.run("pair", target, "--name", "Laptop", input: [code]))
            try await service.nextEvent("pairingClosed")
            #expect(try await service.nextEvent("paired")["client"] == "Laptop")
            let get = try await laptop.run("get", target, "Speed")
            #expect(get.output == ["Speed=0.5"], "\(get)")
            let connected = try await service.nextEvent("connected")
            #expect(connected["role"] == "observe")
            #expect(try await laptop.run("set", target, "Speed=1").status == .exited(4))
            // To observe is not to admit others.
            let refused = try await expectFailure(laptop.run("open-pairing", target, "--json"), status: 4)
            #expect(JSONLine(refused.output.last ?? "")?["reason"] == "notAuthorised", "\(refused)")
            #expect(refused.errors.last?.contains("--state") == true, "\(refused)")
        }
    }

    @Test
    func aCodeIsNotShownToAPipe() async throws {
        try await Self.withRobot { serving, service, target in
            let result = try await expectFailure(serving.run("open-pairing", target))
            #expect(result.errors.last?.contains("--json") == true, "\(result)")
            // Nobody could have read it, so that nothing was opened.
            _ = try await ElementalProcess.run("get", target, "Speed", "--security", "open")
            try await service.nextEvent("connected")
            #expect(!service.lines(of: .output).contains { JSONLine($0)?.event == "pairing" })
        }
    }

    @Test
    func aLongSecretIsShownAsAQRCodeToo() async throws {
        try await Self.withRobot { serving, _, target in
            let arguments = ["open-pairing", target, "--secret", "--state", serving.state]
            try await TerminalProcess.with(ElementalProcess.path, arguments, columns: 200) { terminal in
                #expect(try await terminal.waitForExit() == .exited(0))
                let output = terminal.output.replacing("\r\n", with: "\n")
                let secret = try #require(output.firstMatch(of: /and then the secret: ([A-Za-z2-7-]+)\n/)?.1)
                #expect(PairingSecret(secret: String(secret)) != nil)
                let code = try #require(QRCode(String(secret)))
                #expect(output.contains(code.terminalText))
            }
        }
    }

    @Test
    func whoHasAnotherIdentityIsToldWhoseItTakes() async throws {
        try await Self.withRobot { serving, _, target in
            let other = Serving(state: serving.state + "-other")
            let none = try await expectFailure(other.run("open-pairing", target, "--json"), status: 4)
            #expect(none.errors.last?.contains(other.state) == true, "\(none)")
            #expect(!FileManager.default.fileExists(atPath: other.state))
            _ = try await other.run("trust")
            let refused = try await expectFailure(other.run("open-pairing", target, "--json"), status: 4)
            #expect(JSONLine(refused.output.last ?? "")?["reason"] == "notPaired", "\(refused)")
            #expect(refused.errors.last?.contains(other.state) == true, "\(refused)")
        }
    }

    @Test(arguments: [
        ["pair", "--open", "--code", "123456"], ["pair", "--open", "--name", "Laptop"], ["pair", "--for", "60"],
        ["pair", "--secret"], ["open-pairing", "--for", "3601"], ["open-pairing", "--for", "0.5"],
        ["open-pairing", "--code", "123456"], ["open-pairing", "--name", "Laptop"],
    ])
    func whatDoesNotGoTogetherIsAMistake(_ arguments: [String]) throws {
        try Mistake.expect(in: arguments + ["robot"])
    }

    @Test("the former spelling opens the window too, and says what it is now")
    func formerSpelling() async throws {
        try await Self.withRobot { serving, _, target in
            let opened = try await serving.run("pair", "--open", target, "--for", "600", "--json")
            #expect(opened.status == .exited(0), "\(opened)")
            #expect(opened.errors.first?.contains("elemental open-pairing") == true, "\(opened)")
            #expect(JSONLine(opened.output.first ?? "")?.event == "pairing")
        }
        #expect(!ElementalCommand.helpMessage(for: PairCommand.self, columns: 200).contains("--open"))
    }

    @Test
    func theFingerprintIsShownAsAQRCode() async throws {
        try await Serving.with { serving in
            let shown = try await serving.run("trust", "--qr")
            let fingerprint = try #require(shown.output.first)
            let code = try #require(QRCode(fingerprint))
            #expect(shown.output.dropFirst().joined(separator: "\n") + "\n" == code.terminalText)
            #expect(try await serving.run("trust", "show", "--qr").output == shown.output)
            let json = try await serving.run("trust", "--qr", "--json")
            let plain = try await serving.run("trust", "--json")
            #expect(json.output == plain.output)
            #expect(json.output.count == 1)
        }
    }

    /// Zeroconf gives the address of a network interface, for this host too.
    @Test(.needsTwoHosts)
    func onlyTheHostItselfOpensTheWindowWithTheServicesIdentity() async throws {
        try await TestBed.with { bed in
            let robot = ["publish", "robot", "--name", "Rover", "--stay", "--json", "--element", "1:Speed:float=0.5"]
            let open = ["open-pairing", "robot/Rover", "--json"]
            try await bed.a.withCommand(robot) { service in
                try await service.nextEvent("published")
                try await bed.a.withCommand(open) { pair in
                    let opened = try await pair.nextEvent("pairing")
                    #expect((opened["code"] as String?)?.count == 6)
                    #expect(try await pair.waitForExit() == .exited(0))
                }
                try await service.nextEvent("pairing")
                // A copy of its identity, on another host.
                try await bed.b.withCommand(open) { pair in
                    let error = try await pair.nextEvent("error")
                    #expect(error["reason"] == "notAuthorised", "\(pair.transcript)")
                }
                // Who has the identity controls, from everywhere.
                try await bed.b.expectSuccess("set", "robot/Rover", "Speed=1")
            }
        }
    }
}
