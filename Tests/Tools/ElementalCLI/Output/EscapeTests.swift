import Foundation
import TestSupport
import Testing

/// No text from another machine moves a terminal's cursor, forges a line or is invisible.
struct EscapeTests {
    /// Clears the screen, adds a line, reverses the direction of writing, and has other line separators.
    private static let evil = "x\u{1B}[2J\nforged\u{202E}y\u{2028}z"
    private static let harmless = #"x\u{1B}[2J\nforged\u{202E}y\u{2028}z"#

    private func expectHarmless(_ stream: ChildProcess.Stream = .error, of child: ChildProcess) {
        let (lines, transcript) = (child.lines(of: stream), child.transcript)
        #expect(lines.contains { $0.contains(Self.harmless) }, "\(transcript)")
        #expect(!lines.contains { $0.hasPrefix("forged") }, "\(transcript)")
        for scalar in ["\u{1B}", "\u{202E}", "\u{2028}"] {
            #expect(!lines.contains { $0.contains(scalar) }, "\(transcript)")
        }
    }

    @Test("the name of a device in the output and in the log of a service", arguments: [[], ["--verbose"]])
    func nameOfADevice(_ verbose: [String]) async throws {
        let arguments = [
            "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--element", "1:Text:string:wo",
        ]
        try await withCommand(arguments + verbose) { service in
            let line = try await service.nextLine(of: .error) { $0.contains("listens at port") }
            let port = try #require(line.text.split(separator: " ").last.flatMap { Int($0) })
            let device = try RawSocket.connect(to: port)
            let text = Array(Self.evil.utf8)
            try device.write(ScriptedService.frame(-2, text) + ScriptedService.frame(1, text))
            try await service.nextLine { $0.contains("Text=") }
            device.closeOutput()
            try await service.nextLine(of: .error) { $0.contains("disconnected") && $0.contains("x") }
            service.closeInput()
            try await service.waitForExit()
            expectHarmless(of: service)
            expectHarmless(.output, of: service)
        }
    }

    @Test("JSON has the original text, in escapes that do not affect a terminal or a line reader")
    func json() async throws {
        try await Robot.with(["1:Text:string:wo"]) { service, target in
            let port = try #require(target.split(separator: ":").last.flatMap { Int($0) })
            let device = try RawSocket.connect(to: port)
            let text = Self.evil + "\u{E0041}\u{9B}👩‍👩‍👧‍👦"
            let value = Array(text.utf8)
            try device.write([0xFE, 1, 0, 0, 0, 0x68, 1, UInt8(value.count), 0, 0, 0] + value)
            let event = try await service.nextEvent("value")
            #expect(event["value"] == text)
            let line = try #require(service.lines(of: .output).first { $0.contains("\"Text\"") })
            #expect(line.contains(#"\u001b[2J\nforged\u202ey\u2028z\udb40\udc41\u009b👩‍👩‍👧‍👦"#), "\(line)")
        }
    }

    @Test("the text with which a service shuts down, and a client's own log")
    func shutdownText() async throws {
        let (listener, port) = try RawSocket.listen()
        try await withCommand(["watch", "127.0.0.1:\(port)", "--element", "1:Speed:float", "--verbose"]) { watch in
            let peer = try await listener.accept()
            // The UDP identifier, 0 for none.
            try peer.write([0xFF, 1, 0, 0, 0, 0])
            try await watch.nextLine(of: .error) { $0.contains("connected to") }
            let text = Array(Self.evil.utf8)
            try peer.write([0xFD, UInt8(text.count), 0, 0, 0] + text)
            peer.closeOutput()
            try await watch.waitForExit()
            expectHarmless(of: watch)
            let log = watch.lines(of: .error).filter { $0.contains("[Elemental]") }
            #expect(log.contains { $0.contains(Self.harmless) }, "\(watch.transcript)")
        }
    }

    @Test("the reason with which a hub closes a WebSocket")
    func closeReason() async throws {
        let (listener, port) = try RawSocket.listen()
        try await withCommand(
            [
                "signalr", "listen", "ws://127.0.0.1:\(port)/hub", "Add", "--verbose", "--skip-negotiation",
                "--transport", "websockets",
            ]
        ) { listen in
            let peer = try await ScriptedPeer.acceptWebSocket(on: listener)
            try await listen.nextLine(of: .error) { $0.contains("connected to") }
            try peer.write(ScriptedPeer.frame([0x03, 0xF3] + Array(Self.evil.utf8), opcode: 8))
            try await listen.waitForExit()
            expectHarmless(of: listen)
            let log = listen.lines(of: .error).filter { $0.contains("[SignalR]") }
            #expect(log.contains { $0.contains(Self.harmless) }, "\(listen.transcript)")
        }
    }

    @Test("the name of a service at the prompt of a session", .needsAvahi)
    func prompt() async throws {
        try await PrivateAvahi.with(hostName: "prompt") { avahi in
            let name = "Ro\u{202E}rev"
            let arguments = ["publish", "robot", "--name", name, "--json", "--element", "1:Speed:float=0.5"]
            try await withCommand(arguments, environment: avahi.environment) { service in
                try await service.nextEvent("published")
                let script = "DBUS_SYSTEM_BUS_ADDRESS=\"$0\" exec \"$@\""
                let address = try #require(avahi.environment["DBUS_SYSTEM_BUS_ADDRESS"])
                try await TerminalProcess.with(
                    "/bin/sh", ["-c", script, address, try ElementalProcess.path, "connect", "robot"]
                ) { session in
                    try await session.waitFor("> ")
                    try session.type("get Speed\n")
                    try await session.waitFor("Speed=0.5")
                    try session.type("quit\n")
                    let status = try await session.waitForExit()
                    #expect(status == .exited(0))
                    #expect(session.output.contains(#"Ro\u{202E}rev> "#), "\(session.output.debugDescription)")
                    #expect(!session.output.contains("\u{202E}"), "\(session.output.debugDescription)")
                }
            }
        }
    }
}
