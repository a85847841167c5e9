import Elemental
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
    func whatABrowserTellsIsALine() {
        let gone = ElementalBrowser.Event.gone(service: "lamp", name: "evil\u{1B}[2J\n")
        #expect("\(gone)" == #"gone: lamp/evil\u{1B}[2J\n"#)
    }
}
