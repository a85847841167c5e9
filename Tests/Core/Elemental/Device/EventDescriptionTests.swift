import Elemental
import ElementalSecurity
import TestSupport
import Testing

/// What a program prints that logs each event as it comes.
@Suite(.backstop)
struct EventDescriptionTests {
    @Test
    func eventsAreLinesWithoutEscapeSequences() async throws {
        try await Reconnecting.withPair(Reconnecting.soon) { service, port, device in
            let (served, told) = (Transcript<String>(), Transcript<String>())
            service.onEvent { served.add("\($0)") }
            device.onEvent { told.add("\($0)") }
            let other = try await connect(port, as: "evil\u{1B}[2J\nstopped", elements: Reconnecting.Rover.all)
            let connected = try await served.next { $0.hasPrefix("connected: evil") }
            #expect(connected.hasPrefix(#"connected: evil\u{1B}[2J\nstopped ("#), "\(connected)")
            let evil = try #require(service.devices.first { $0.name.hasPrefix("evil") })
            #expect("\(evil)".hasPrefix(#"evil\u{1B}[2J\nstopped ("#))
            await other.close()
            await service.stop(reason: "bye\u{1B}[31m\nnow")
            let lost = try await told.next { $0.hasPrefix("connection lost: ") }
            let words = #"connection lost: shut down: bye\u{1B}[31m\nnow; attempt 1 follows in "#
            #expect(lost.hasPrefix(words), "\(lost)")
            await device.close()
            #expect("\(DisconnectReason(.shutDown("bye\u{1B}"), isExpected: true))" == #"shut down: bye\u{1B}"#)
            let ended = try await told.next { $0.hasPrefix("disconnected") }
            #expect(ended == "disconnected: closed here")
        }
    }

    @Test
    func whatPairingTellsIsALineWithoutTheCode() throws {
        let evil = "evil\u{1B}[2J\n"
        let secret = try #require(PairingSecret(code: "123456"))
        let client = TrustedClient(
            fingerprint: Ed25519Identity().fingerprint, name: evil, role: .control, services: .all)
        for (event, text) in [
            (PairingEvent.opened(secret, for: .seconds(1), role: .control), "pairing is open"),
            (.openedByAdmin, "pairing was opened over the network"), (.closed, "pairing is over"),
            (.paired(client), #"paired: 'evil\u{1B}[2J\n'"#),
            (.failed(client, ElementalError(.notPaired, evil)), #"not paired: evil\u{1B}[2J\n"#),
        ] {
            #expect("\(event)" == text)
            #expect("\(ServiceEvent.pairing(event))" == text)
        }
    }

    /// Also that of the cause.
    @Test
    func anErrorIsALineWithoutEscapeSequences() {
        let cause = ElementalError(.refused, "cause\u{1B}[2J\n")
        let error = ElementalError(.refused, "evil\u{1B}[2J\n", cause: cause)
        #expect("\(error)" == #"evil\u{1B}[2J\n (cause\u{1B}[2J\n)"#)
        #expect(error.message == "evil\u{1B}[2J\n")
        #expect("\(SecurityError(.corrupt, "evil\u{1B}[2J\n"))" == #"evil\u{1B}[2J\n"#)
    }

    @Test
    func whatABrowserTellsIsALine() {
        let gone = ElementalBrowser.Event.gone(service: "lamp", name: "evil\u{1B}[2J\n")
        #expect("\(gone)" == #"gone: lamp/evil\u{1B}[2J\n"#)
    }
}
