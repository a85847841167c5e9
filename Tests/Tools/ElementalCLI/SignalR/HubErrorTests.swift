import Foundation
import TestSupport
import Testing

/// The messages of `elemental signalr` about hubs that misbehave and mistakes in its arguments.
struct HubErrorTests {
    private func run(
        _ command: String, _ arguments: [String], _ script: @escaping @Sendable (RawSocket) async throws -> Void
    ) async throws -> CommandResult {
        let (listener, port) = try RawSocket.listen()
        async let said: Void = script(listener)
        let command = ["signalr", command, "http://127.0.0.1:\(port)/hub"]
        let result = try await ElementalProcess.run(command + arguments)
        try? await said
        return result
    }

    /// Answers a call with JSON, over a WebSocket without negotiation.
    private func answer(_ members: String) async throws -> CommandResult {
        try await run("call", ["Get", "--skip-negotiation"]) { listener in
            let hub = try await ScriptedPeer.acceptWebSocket(on: listener)
            _ = try await hub.message()
            try hub.say(#"{"type":3,"invocationId":"1",\#(members)}"#)
            // Without an answer to its close frame the client would wait for two seconds.
            while try await hub.frame().opcode != 8 {}
            try hub.write(ScriptedPeer.frame([0x03, 0xE8], opcode: 8))
        }
    }

    @Test
    func aHubThatDiesWhileItSendsEvents() async throws {
        let listen = try await run("listen", ["Say", "--transport", "sse"]) { listener in
            let (hub, posts) = try await ScriptedPeer.acceptServerSentEvents(
                on: listener, headers: "Transfer-Encoding: chunked\r\n")
            try hub.write("b\r\ndata: {}\u{1e}\n\n\r\n")
            hub.closeOutput()
            _ = try? await posts.readToEnd()
        }
        let errors = expectFailure(listen).errors.joined()
        #expect(errors.contains("closed the connection") && !errors.contains("does not speak HTTP"), "\(errors)")
    }

    @Test("a reset connection is reported in the system's words, without SwiftNIO's")
    func aHubThatResetsTheConnection() async throws {
        let call = try await run("call", ["Get", "--skip-negotiation"]) { listener in
            let socket = try await listener.accept()
            let hub = ScriptedPeer(socket)
            try await hub.upgrade()
            _ = try await hub.frame()
            try hub.write(ScriptedPeer.frame(Array("{}\u{1e}".utf8)))
            // The rest of the call remains unread, so that closing resets the connection.
            _ = try await socket.read(1)
        }
        let errors = expectFailure(call).errors.joined()
        #expect(errors.contains("connection") && !errors.contains("errno"), "\(errors)")
    }

    @Test(arguments: [
        (["[1,"], "single quotes"), (["1", "--header", "no header"], "header"),
        (["1", "--transport", "sse", "--protocol", "messagepack"], ""),
    ])
    func mistakes(_ arguments: [String], _ hint: String) throws {
        try Mistake.expect(in: ["signalr", "call", "http://127.0.0.1:1/hub", "Echo"] + arguments, hint)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\u{7f}", "\u{1b}[2J"])
    func aTokenThatIsInvalidInAHeaderIsAMistake(_ token: String) throws {
        try Mistake.expect(in: ["signalr", "call", "http://127.0.0.1:1/hub", "Get", "--token", token], "--token")
    }

    @Test
    func aTokenFileWithALineEndWithinIsToldAsSuch() async throws {
        let call = try await withFolder { folder in
            try "a\r\nX-Evil: 1\n".write(toFile: folder + "/token", atomically: false, encoding: .utf8)
            return try await ElementalProcess.run(
                "signalr", "call", "http://127.0.0.1:1/hub", "Get", "--token", "@\(folder)/token")
        }
        #expect(call.status != .exited(0))
        #expect(call.errors.joined().contains("access token"), "\(call.errors)")
    }

    @Test(arguments: ["http://me:geheim@127.0.0.1:1/hub", "http://me:geheim@", "http://me:geheim@127.0.0.1:99999/hub"])
    func aPasswordInAnAddressIsNeitherUsedNorPrinted(_ url: String) async throws {
        for options in [[], ["--json", "--verbose"]] {
            let call = try await ElementalProcess.run(["signalr", "call", url, "Get"] + options)
            let text = (call.output + call.errors).joined()
            #expect(call.status != .exited(0))
            #expect(!text.contains("geheim") && !text.contains("running there"), "\(text)")
        }
    }

    @Test(arguments: [
        "18446744073709551615", "18446744073709551616", "-9223372036854775809", "123456789012345678901234567890", "0.5",
        "1e+300",
    ])
    func numbersKeepTheirDigits(_ number: String) async throws {
        let call = try await answer(#""result":[\#(number)]"#)
        #expect(call.output == ["[\(number)]"], "\(call.errors)")
    }

    @Test
    func halfASurrogatePairIsReadAsAMistakeInText() async throws {
        let call = try await answer(#""result":["\ud83d","\ud83d\ude00","\\ud83d"]"#)
        #expect(call.output == [#"["\#u{fffd}","😀","\\ud83d"]"#], "\(call.errors)")
        let failed = try await answer(#""error":"no \udc00""#)
        #expect(failed.errors.joined().contains("no \u{fffd}"), "\(failed.errors)")
    }
}
