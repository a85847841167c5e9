import Elemental
import ElementalSecurity
import Foundation
import TestSupport
import Testing

/// The window that opens by itself at the start that makes the identity.
struct PairingWindowTests {
    private static func pair(
        _ target: String, _ identity: Ed25519Identity, with secret: PairingSecret
    ) async throws -> TrustedService {
        var options = ConnectOptions()
        options.timeout = Patience.wait
        options.security = .automatic(identity: identity, store: InMemoryTrustStore())
        let port = try #require(target.split(separator: ":").last.flatMap { Int($0) })
        return try await ServicePlace.address(host: "127.0.0.1", port: port).pair(as: "tester", options: options) { _ in
            secret
        }
    }

    @Test
    func aProgramReadsTheCodeAsJSON() async throws {
        try await Serving.with { serving in
            try await serving.robot { service, target in
                let pairing = try await service.nextEvent("pairing")
                #expect(pairing["service"] == "robot")
                #expect((1...300).contains(pairing.number("seconds") ?? 0))
                let code = try #require((pairing["code"] as String?).flatMap(PairingSecret.init(code:)))
                let identity = Ed25519Identity()
                #expect(try await Self.pair(target, identity, with: code).role == .control)
                let paired = try await service.nextEvent("paired")
                #expect(paired["client"] == "tester")
                #expect(paired["fingerprint"] == "\(identity.fingerprint)")
                #expect(paired["role"] == "control")
                try await service.nextEvent("pairingClosed")
                // For a program, and not on standard error as well.
                #expect(!service.lines(of: .error).contains { $0.contains(code.text) })
            }
            // Only the first start opens it.
            try await serving.robot { service, target in
                _ = try await ElementalProcess.run("get", target, "Speed", "--security", "open")
                try await service.nextEvent("connected")
                #expect(!service.lines(of: .output).contains { JSONLine($0)?.event == "pairing" })
                #expect(!service.lines(of: .error).contains { $0.contains("elemental pair") })
            }
        }
    }

    @Test
    func aPersonReadsItOnTheTerminal() async throws {
        try await Serving.with { serving in
            let arguments = Serving.robot + ["--state", serving.state]
            try await TerminalProcess.with(ElementalProcess.path, arguments, columns: 200) { terminal in
                try await terminal.waitFor("and then the code: ")
                try await eventually { terminal.output.contains(/and then the code: [0-9]{6}\s/) }
                let port = try #require(terminal.output.firstMatch(of: /type there: elemental pair HOST:([0-9]+)\s/)?.1)
                let code = try #require(terminal.output.firstMatch(of: /the code: ([0-9]{6})/)?.1)
                _ = try await Self.pair(
                    "127.0.0.1:\(port)", Ed25519Identity(), with: try #require(PairingSecret(code: String(code))))
                try await terminal.waitFor("'tester' is paired with robot, with the role control")
                try await terminal.waitFor("pairing with robot is closed")
            }
        }
    }

    @Test
    func aCodeGoesNeitherToAPipeNorToTheJournal() async throws {
        try await Serving.with { serving in
            let arguments = Serving.robot + ["--state", serving.state]
            try await withCommand(arguments) { service in
                let remark = try await service.nextRemark("no client is paired with robot")
                #expect(remark.contains(/elemental open-pairing 127\.0\.0\.1:[0-9]+ --state \//), "\(remark)")
                #expect(!service.transcript.contains("code"))
            }
        }
        try await Serving.with { serving in
            // systemd tells a program by device and inode that its output goes to the journal.
            let script = #"JOURNAL_STREAM=$(stat -L -c %d:%i /proc/$$/fd/1) exec "$@""#
            let arguments = Serving.robot + ["--state", serving.state, "--json"]
            try await ChildProcess.with("bash", ["-c", script, "bash", ElementalProcess.path] + arguments) { service in
                try await service.nextRemark("no client is paired with robot")
                #expect(!service.lines(of: .output).contains { $0.contains("code") })
            }
        }
        try await Serving.with { serving in
            // Inherited from the journal, which is not where the output goes.
            let arguments = Serving.robot + ["--state", serving.state, "--json"]
            try await withCommand(arguments, environment: ["JOURNAL_STREAM": "1:2"]) {
                _ = try await $0.nextEvent("pairing")
            }
        }
    }
}
