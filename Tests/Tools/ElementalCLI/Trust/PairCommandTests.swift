import ElementalSecurity
import ElementalWire
import Foundation
import TestSupport
import Testing

struct PairCommandTests {
    @Test
    func aCodeOnStandardInputPairs() async throws {
        try await PairingBed.with { bed in
            let code = try await bed.openWindow()
            let paired = try await bed.run("pair", bed.target, "--name", "laptop", "--json", input: [code])
            #expect(paired.status == .exited(0), "\(paired)")
            let event = try #require(JSONLine(paired.output.last ?? ""))
            #expect(event.event == "paired")
            #expect(event["service"] == "lamp")
            #expect(event["instance"] == bed.target)
            #expect(event["fingerprint"] == "\(bed.serviceState.identity.fingerprint)")
            #expect(event["role"] == "control")
            let clients = try bed.serviceState.trust.read().clients
            #expect(clients.map(\.name) == ["laptop"])
            let own = try #require(try SecurityState.existing(directory: bed.state)?.identity.fingerprint)
            #expect(clients.map(\.fingerprint) == [own])
            // The service admits nobody in plain.
            let set = try await expectSuccess(bed.run("set", bed.target, "Light=off"))
            #expect(set == ["Light=false"])
        }
    }

    @Test
    func whatTheServiceOffersLimitsTheRole() async throws {
        try await PairingBed.with { bed in
            let code = try await bed.openWindow(role: .observe)
            let paired = try await expectSuccess(bed.run("pair", bed.target, "--role", "admin", input: [code]))
            #expect(paired.first?.contains("as observe, the maximum that the service offers") == true)
            #expect(try await bed.run("get", bed.target, "Light").output == ["Light=true"])
            let set = try await bed.failure("set", bed.target, "Light=off")
            #expect(set.message.contains("may only observe") && set.message.contains("elemental pair \(bed.target)"))
        }
    }

    @Test(arguments: [false, true])
    func aLongSecretComesOnStandardInputOrInAFile(_ isFile: Bool) async throws {
        try await PairingBed.with { bed in
            let secret = try await bed.openWindow(.secret)
            let file = bed.state + ".secret"
            try Data("\(secret)\n".utf8).write(to: URL(filePath: file))
            let paired =
                isFile
                ? try await bed.run("pair", bed.target, "--code", "@\(file)")
                : try await bed.run("pair", bed.target, input: [secret])
            #expect(paired.status == .exited(0), "\(paired)")
        }
    }

    /// Pairs until the service has answered. No more than five handshakes of a host begin each second, and each attempt
    /// takes two: attempts that follow one another faster than handshakes are allowed would all fail.
    private func failureOfPairing(_ bed: PairingBed, input: [String]) async throws -> (code: String, message: String) {
        var error = (code: "", message: "")
        try await eventually("the service answers", every: .milliseconds(300)) {
            error = try await bed.failure("pair", bed.target, input: input)
            return error.code != "connectionFailed"
        }
        return error
    }

    @Test(.backstop)
    func fiveWrongCodesCloseTheWindowAndEachCommandTriesOnce() async throws {
        try await PairingBed.with { bed in
            let code = try await bed.openWindow()
            let wrong = code == "000000" ? "000001" : "000000"
            for _ in 0..<5 {
                let error = try await failureOfPairing(bed, input: [wrong, code])
                #expect(error.code == "wrongCode", "\(error)")
                #expect(error.message.contains("elemental pair \(bed.target) --state \(bed.state)"))
                #expect(!error.message.contains(wrong) && !error.message.contains(code))
            }
            let error = try await failureOfPairing(bed, input: [code])
            #expect(error.code == "pairingClosed", "\(error)")
            #expect(try bed.serviceState.trust.read().clients.isEmpty)
        }
    }

    @Test
    func aServiceWithoutAWindowIsSaidToBeClosed() async throws {
        try await PairingBed.with { bed in
            let error = try await bed.failure("pair", bed.target, "--code", "123456")
            #expect(error.code == "pairingClosed")
            #expect(error.message.contains("elemental open-pairing"), "\(error)")
        }
    }

    @Test(arguments: ["", "12345", "12 34 5x", "mfrg-gzdf-mztw-q2lk-mfrg-gzdf-mztw-q2lk"])
    func whatCannotBeACodeIsNotSent(_ text: String) async throws {
        try await PairingBed.with { bed in
            let code = try await bed.openWindow()
            let error = try await bed.failure("pair", bed.target, input: [text])
            #expect(error.code == "invalidText")
            #expect(text.isEmpty || !error.message.contains(text))
            // It did not count, nor did the window close.
            #expect(try await bed.run("pair", bed.target, input: [code]).status == .exited(0))
        }
    }

    @Test(arguments: ["mfrg-gzdf-mztw-q2lk-mfrg-gzdf-mztw-q2lk", "12345", "@"])
    func aSecretOnTheCommandLineIsAMistakeThatDoesNotShowIt(_ text: String) throws {
        let mistake = try #require(Mistake(in: ["pair", "127.0.0.1:1", "--code", text, "--json"]))
        #expect(mistake.status == 64 && !mistake.text.contains("mfrg"), "\(mistake)")
    }

    @Test
    func aServiceOfTheSameUserNeedsNoPairing() async throws {
        try await PairingBed.with { bed in
            let code = try await bed.openWindow()
            let result = try await expectFailure(
                "pair", bed.target, "--state", bed.serviceState.directory, input: [code])
            #expect(result.errors.last?.contains("--security paired") == true, "\(result)")
        }
    }
}

/// `elemental pair` at a terminal.
struct PairPromptTests {
    @Test
    func theCodeIsTypedUnseen() async throws {
        try await PairingBed.with { bed in
            let code = try await bed.openWindow()
            let pair = ["pair", bed.target, "--state", bed.state]
            try await TerminalProcess.with(ElementalProcess.path, pair, columns: 200) { terminal in
                try await terminal.waitFor("while you type")
                #expect(terminal.settings != terminal.settingsAtFirst)
                // A slip of the finger is not an attempt.
                try terminal.type("12345\n")
                try await terminal.waitFor("six digits; nothing was sent")
                try terminal.type("\(code)\n")
                #expect(try await terminal.waitForExit() == .exited(0), "\(terminal.output)")
                #expect(terminal.output.contains("as control"))
                #expect(!terminal.output.contains(code) && !terminal.output.contains("12345"))
                #expect(terminal.settings == terminal.settingsAtFirst)
            }
            #expect(try bed.serviceState.trust.read().clients.count == 1)
        }
    }

    @Test
    func anInterruptionAtThePromptRestoresTheTerminal() async throws {
        try await PairingBed.with { bed in
            _ = try await bed.openWindow()
            let pair = ["pair", bed.target, "--state", bed.state]
            try await TerminalProcess.with(ElementalProcess.path, pair, columns: 200) { terminal in
                try await terminal.waitFor("while you type")
                try terminal.type("\u{3}")
                #expect(try await terminal.waitForExit() == .exited(130), "\(terminal.output)")
                #expect(terminal.settings == terminal.settingsAtFirst)
            }
            #expect(try bed.serviceState.trust.read().clients.isEmpty)
        }
    }

    /// A taken name is the one reason, and leaves nothing behind.
    @Test
    func aTakenNameIsSaidWithTheWayOut() async throws {
        try await PairingBed.with { bed in
            try await expectSuccess(bed.run("pair", bed.target, "--name", "pi", input: [try await bed.openWindow()]))
            let other = bed.state + "-other"
            func pair(_ name: [String]) async throws -> CommandResult {
                try await ElementalProcess.run(
                    ["pair", bed.target, "--state", other, "--timeout", Patience.seconds, "--json"] + name,
                    input: [try await bed.openWindow()])
            }
            let taken = try await expectFailure(pair(["--name", "pi"]), status: 2)
            let error = try #require(JSONLine(taken.output.last ?? ""))
            #expect(error["reason"] == "nameTaken")
            let message: String = error["message"] ?? ""
            #expect(message.contains("'pi'") || message.contains("\"pi\""), "\(message)")
            #expect(message.contains("elemental pair \(bed.target)") && message.contains("--name"), "\(message)")
            #expect(message.contains("show a new one"), "\(message)")
            #expect(try SecurityState(directory: other).trust.read().services.isEmpty)
            // Default names of one host are different.
            try await expectSuccess(pair([]))
            let third = try await ElementalProcess.run(
                ["pair", bed.target, "--state", other + "-2", "--timeout", Patience.seconds],
                input: [try await bed.openWindow()])
            expectSuccess(third)
            #expect(Set(try bed.serviceState.trust.read().clients.map(\.name)).count == 3)
        }
    }

    @Test
    func aPendingPairingIsShownAndCountsForNothing() async throws {
        try await PairingBed.with { bed in
            let state = try SecurityState(directory: bed.state)
            try state.trust.update { peers in
                var service = TrustedService(
                    fingerprint: bed.serviceState.identity.fingerprint, service: "lamp", instance: bed.target,
                    role: .control)
                service.isPending = true
                try peers.pin(service, own: state.identity.fingerprint)
            }
            let listed = try await bed.run("trust", "list", "--json")
            #expect(JSONLine(listed.output.last ?? "")?["pending"] == true)
            #expect(try await bed.failure("get", bed.target, "Light").code == "unauthenticated")
            try await bed.pair()
            #expect(JSONLine(try await bed.run("trust", "list", "--json").output.last ?? "")?["pending"] == false)
        }
    }
}
