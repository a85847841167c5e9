import Foundation
import TestSupport
import Testing

/// `elemental signalr` with a hub that is not part of this project.
@Suite(.enabled(if: Peers.areThere, "the peers are set up by Tests/install signalr"))
struct SignalRCommandTests {
    @Test(arguments: [
        ["--transport", "websockets"], ["--transport", "sse"], ["--transport", "longpolling"],
        ["--protocol", "messagepack"], ["--transport", "longpolling", "--protocol", "messagepack"],
        ["--transport", "websockets", "--skip-negotiation"],
    ])
    func aCallPrintsItsResult(_ options: [String]) async throws {
        try await Peers.withHub { _, port in
            let call = ["signalr", "call", "http://127.0.0.1:\(port)/hub", "Echo"] + options
            let json = #"{"b":[1,-2.5,null,true],"a":"é\"\u2028"}"#
            let output = try await expectSuccess(ElementalProcess.run(call + [json]))
            #expect(output == [#"{"a":"é\"\u2028","b":[1,-2.5,null,true]}"#])
        }
    }

    @Test
    func whatACallCanCarryAndSay() async throws {
        try await Peers.withHub { _, port in
            let url = "http://127.0.0.1:\(port)/hub"
            func call(_ arguments: String...) async throws -> CommandResult {
                try await ElementalProcess.run(["signalr", "call", url] + arguments)
            }
            #expect(try await call("Add", "--", "-1", "43").output == ["42"])
            #expect(try await call("Nothing").output == ["null"])
            #expect(try await call("Echo", "plain text").output == [#""plain text""#])
            #expect(try await call("Header", "X-Thing", "--header", "X-Thing: a: b").output == [#""a: b""#])
            #expect(try await call("Header", "Authorization", "--token", "secret").output == [#""Bearer secret""#])
            try await withFolder { folder in
                let file = folder + "/token"
                try "from a file\n".write(toFile: file, atomically: false, encoding: .utf8)
                let header = try await call("Header", "Authorization", "--token", "@\(file)")
                #expect(header.output == [#""Bearer from a file""#])
            }
            let json = try await call("Add", "1", "2", "--json").output.compactMap { JSONLine($0) }
            #expect(json.map(\.event) == ["connected", "result"])
            #expect(json.last?.number("result") == 3)

            let refused = try await expectFailure(call("Refuse", "because", "--json"))
            let error = refused.output.compactMap { JSONLine($0) }.last
            #expect(error?["reason"] == "invocationFailed")
            #expect(error?["message"] == "because")
            try await withGrowingTimeout { seconds in
                let slow = try await call("Slow", "--timeout", seconds)
                guard slow.status == .exited(5), slow.errors.last?.contains("did not answer 'Slow'") == true else {
                    throw TestSupportError("\(slow)")
                }
            }
        }
    }

    @Test
    func aHubsOwnCertificateIsTrustedWhenAskedFor() async throws {
        try await Peers.withHub(isSecure: true) { _, port in
            let call = ["signalr", "call", "https://127.0.0.1:\(port)/hub", "Add", "40", "2"]
            func run(_ options: String...) async throws -> CommandResult {
                try await ElementalProcess.run(call + options)
            }
            let trusting = try await expectSuccess(run("--trust", "\(Peers.folder)/certificate.pem"))
            #expect(trusting == ["42"])
            let other = try await expectFailure(run())
            #expect(other.errors.last?.contains("--trust") == true, "\(other.errors)")
            let absent = try await run("--trust", "/nowhere.pem")
            #expect(absent.errors.last?.contains("no such file") == true, "\(absent.errors)")
            let empty = try await expectFailure(run("--trust", "/etc/passwd"))
            #expect(empty.errors.last?.contains("PEM") == true, "\(empty.errors)")
        }
    }

    @Test
    func errorsSayWhatToDo() async throws {
        try await Peers.withHub { _, port in
            for (url, words, status) in [
                ("http://127.0.0.1:\(port)/elsewhere", "another path", 3),
                ("http://127.0.0.1:1/hub", "running there", 1),
            ] as [(String, String, Int32)] {
                let errors = try await expectFailure("signalr", "call", url, "Nothing", status: status).errors
                #expect(errors.last?.contains(words) == true, "\(errors)")
            }
        }
    }

    @Test
    func whatIsSentIsHeard() async throws {
        try await Peers.withHub { _, port in
            let url = "http://127.0.0.1:\(port)/hub"
            try await withCommand(["signalr", "listen", url, "AddMessage", "Number", "--count", "2"]) { listener in
                try await listener.nextLine(of: .error) { $0.contains("connected") }
                let sent = try await ElementalProcess.run("signalr", "send", url, "Say", "Ada", "Hi")
                #expect(sent.status == .exited(0) && sent.output.isEmpty && sent.errors.last == "sent Say", "\(sent)")
                try await listener.nextLine { $0 == #"AddMessage "Ada" "Hi""# }
                _ = try await ElementalProcess.run("signalr", "send", url, "Say", "Ada", "2", "--transport", "sse")
                try await listener.nextLine { $0 == #"AddMessage "Ada" 2"# }
                try await listener.expectExit()
            }
        }
    }

    @Test
    func listeningCallsTheHubFirstAndEndsOnInterrupt() async throws {
        try await Peers.withHub { _, port in
            let listen = ["signalr", "listen", "http://127.0.0.1:\(port)/hub", "Number", "--json"]
            try await withCommand(listen + ["--call", "Flood", "--call", "3"]) { listener in
                for number in 0..<3 {
                    let line = try await listener.nextEvent("invocation")
                    let arguments: [Int]? = line["arguments"]
                    #expect(arguments == [number])
                }
                try await listener.expectExit(after: SIGINT)
            }
        }
    }

    @Test
    func aStreamIsPrintedAndLeft() async throws {
        try await Peers.withHub { _, port in
            let url = "http://127.0.0.1:\(port)/hub"
            let output = try await expectSuccess("signalr", "stream", url, "Counter", "4")
            #expect(output == ["0", "1", "2", "3"])
            let some = try await expectSuccess("signalr", "stream", url, "Endless", "--count", "3", "--json")
            let items = some.compactMap { JSONLine($0) }.filter { $0.event == "item" }
            #expect(items.map { $0.number("item") } == [0, 1, 2])
            let short = try await expectFailure("signalr", "stream", url, "Counter", "2", "--count", "3")
            #expect(short.output == ["0", "1"])
            let failing = try await expectFailure("signalr", "stream", url, "Failing", "2")
            #expect(failing.errors.last?.contains("Ran out of data!") == true)
            try await withCommand(["signalr", "stream", url, "Endless"]) { endless in
                try await endless.nextLine { $0 == "5" }
                try await endless.expectExit(after: SIGINT)
            }
        }
    }

    @Test(.backstop)
    func listeningOutlastsTheHub() async throws {
        let port = try PortLease.port()
        let url = "http://127.0.0.1:\(port)/hub"
        func withHub(_ body: () async throws -> Void) async throws {
            try await Peers.with("server", "hub.py", ["--port", "\(port)"]) { hub in
                try await hub.nextLine(beginningWith: "listening ")
                try await body()
            }
        }
        let listen = ["signalr", "listen", url, "AddMessage", "--reconnect", "--json"]
        var child: ChildProcess?
        try await withHub {
            child = try ChildProcess(ElementalProcess.path, listen)
            try await child?.nextEvent("connected")
        }
        let listener = try #require(child)
        do {
            let loss = try await listener.nextEvent("willReconnect")
            try await withHub {
                try await listener.nextEvent("didReconnect", after: loss.place)
                _ = try await ElementalProcess.run("signalr", "call", url, "Say", "Ada", "again")
                try await listener.nextEvent("invocation") { $0["arguments"] == ["Ada", "again"] }
                try await listener.expectExit(after: SIGTERM)
            }
        } catch {
            await listener.end()
            throw error
        }
    }

    @Test(.backstop)
    func aBridgeJoinsAServiceToTheHub() async throws {
        try await Peers.withHub { _, port in
            let hub = "http://127.0.0.1:\(port)/hub"
            try await Robot.with(["1:Pace:float=0.5", "2:Level:uint32:latest"]) { service, target in
                let bridge = ["signalr", "bridge", target, "--hub", hub, "--map", "Pace=Speed", "--print", "--json"]
                try await withCommand(bridge) { bridge in
                    let begins = try await bridge.nextEvent("bridging")
                    #expect(begins["control"] == false)
                    try await bridge.nextEvent("passed") {
                        $0["direction"] == "toHub" && $0["element"] == "Pace" && $0.number("value") == 0.5
                    }
                    for _ in 0..<3 { _ = try await ElementalProcess.run("signalr", "call", hub, "Tell", "Speed", "1") }
                    _ = try await ElementalProcess.run("signalr", "call", hub, "Tell", "Level", "1")
                    // The hub sends what it is told in order: all of the calls have arrived with the last.
                    try await bridge.nextEvent("notPassed") {
                        $0["element"] == "Level" && $0["direction"] == "toDevice"
                    }
                    try await bridge.nextEvent("notPassed") { $0["element"] == "Pace" && $0["direction"] == "toDevice" }
                    #expect(try await ElementalProcess.run("get", target, "Pace").output == ["Pace=0.5"])
                    #expect(bridge.lines(of: .output).count { $0.contains("notPassed") } == 2)
                }
                try await withCommand(bridge + ["--control"]) { bridge in
                    let begins = try await bridge.nextEvent("bridging")
                    #expect(begins["control"] == true)
                    try await bridge.nextEvent("passed") {
                        $0["direction"] == "toHub" && $0["element"] == "Pace" && $0.number("value") == 0.5
                    }
                    _ = try await ElementalProcess.run("signalr", "call", hub, "Tell", "Speed", "0.25")
                    try await service.nextEvent("value") { $0["element"] == "Pace" && $0.number("value") == 0.25 }
                    _ = try await ElementalProcess.run("signalr", "call", hub, "Tell", "Level", "much")
                    try await bridge.nextEvent("notPassed") { $0["element"] == "Level" }
                    try await bridge.expectExit(after: SIGINT)
                }
                let unknown = try await expectFailure(
                    "signalr", "bridge", target, "--hub", hub, "--map", "Pase=Speed", status: 3)
                #expect(unknown.errors.last?.contains("'Pace'") == true)
            }
        }
    }
}
