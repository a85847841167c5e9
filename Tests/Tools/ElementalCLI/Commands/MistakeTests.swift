import Foundation
import TestSupport
import Testing

/// Mistakes on the command line: the status is 64, and nothing is done.
struct MistakeTests {
    private static let long = String(repeating: "a", count: 64)
    private static let element = ["--element", "1:Speed:float"]
    private static let key = "a\tb=1"

    @Test(
        "an invalid argument is refused with 64, and the message says what to do",
        arguments: [
            // The service's name, published and not.
            (["publish", "a"] + element, "2 to 15"), (["publish", "robot!"] + element, "letters"),
            (["publish", "a_name_that_is_too_long"] + element, "2 to 15"), (["publish", ""] + element, "2 to 15"),
            (["publish", "a", "--unlisted"] + element, "2 to 15"),
            (["c64", "gateway", "--pty", "--service", "no.service"], "letters"), (["browse", "robot!"], "letters"),
            (["get", "robot!", "Speed"], "letters"), (["get", "a_name_that_is_too_long/Rover", "Speed"], "2 to 15"),
            (["bench", "latency", "1234"], "letter"), (["set", "robot!", "Speed=1"], "letters"),
            (["watch", "robot!"], "letters"),
            // The instance's name.
            (["publish", "robot", "--name", long] + element, "63"),
            (["publish", "robot", "--name", ""] + element, "name"),
            (["publish", "robot", "--unlisted", "--name", long] + element, "63"),
            (["publish", "robot", "--unlisted", "--name", "a\nb"] + element, "control character"),
            (["c64", "gateway", "--pty", "--name", long], "63"), (["bench", "serve", "--name", long], "63"),
            (["bench", "serve", "--name", ""], "name"),
            // TXT entries.
            (["publish", "robot", "--txt", "a=" + String(repeating: "x", count: 254)] + element, "255"),
            (["publish", "robot", "--unlisted", "--txt", key] + element, "printable ASCII"),
            (["publish", "robot", "--txt", "=1"] + element, "KEY=VALUE"),
            (
                ["publish", "robot"] + element
                    + (0..<8).flatMap { ["--txt", "k\($0)=" + String(repeating: "x", count: 200)] }, "1300"
            ),
            // A client's name.
            (["get", "robot", "Speed", "--name", String(repeating: "a", count: 1025)], "1024"),
            (["bench", "latency", "--name", String(repeating: "a", count: 1025)], "1024"),
            // Addresses.
            (["publish", "robot", "--address", ""] + element, "--address"),
            (["publish", "robot", "--address", "does not have that address"] + element, "--address"),
            (["c64", "gateway", "--pty", "--address", ""], "--address"),
            // Hubs.
            (["signalr", "call", "localhost:5000/chat", "Add"], "http://"),
            (["signalr", "send", "ftp://localhost/chat", "Add"], "http://"),
            (["signalr", "stream", "http://", "Add"], "http://"),
            (["signalr", "listen", "http://localhost:99999/chat", "Add"], "65535"),
            (["signalr", "bridge", "robot", "--hub", "nowhere"], "http://"),
            (["c64", "gateway", "--pty", "--map", "ws://a/b=http://"], "ADDRESS=URL"),
            (["c64", "gateway", "--pty", "--map", "ws://a/b=http://c:99999/d"], "65535"),
            (["c64", "gateway", "--pty", "--map", "ws://a b/c=ws://localhost/d"], "requests"),
            (["c64", "gateway", "--pty", "--map", "ws://a:99999/b=ws://localhost/d"], "requests"),
            (["c64", "gateway", "--pty", "--map", "ws://a=ws://localhost/d"], "requests"),
            (["signalr", "call", "http://localhost/", "Add", "--token", "a\r\nb"], "--token"),
            (["signalr", "call", "http://localhost/", "Add", "--token", "@"], "--token"),
            (["signalr", "call", "http://localhost/", "Add", "--trust", ""], "--trust"),
            (["signalr", "call", "http://localhost/", "Add", "--header", "a b: c"], "header"),
            (["signalr", "call", "http://localhost/", "", "1"], "METHOD"),
            (["signalr", "call", "http://localhost/", "Add", "1e400"], "too large"),
            (["signalr", "call", "http://localhost/", "Add", "[1"], "JSON"),
            // Elements.
            (["get", "127.0.0.1:1", "Speed", "--element", "1::float"], "1 to 255"),
            (
                ["get", "127.0.0.1:1", "Speed", "--element", "1:" + String(repeating: "a", count: 256) + ":float"],
                "1 to 255"
            ),
            (["get", "127.0.0.1:1", "Speed", "--element", "1:a:float:often"], "is unknown; give udp"),
            // Targets.
            (["get", "127.0.0.1:0", "Speed"], "1 to 65535"), (["get", "", "Speed"], "empty"),
            (["get", ":80", "Speed"], "host"), (["get", "::1:80", "Speed"], "brackets"),
            (["get", "robot/", "Speed"], "robot/Rover"), (["get", "127.0.0.1:+80", "Speed"], "1 to 65535"),
            (["get", "robot/" + long, "Speed"], "63 bytes"), (["get", "[:1", "Speed"], "not a host"),
            (["get", "a b:80", "Speed"], "not a host"), (["c64", "gateway", "--listen", "127.0.0.1:+80"], "HOST:PORT"),
            (["c64", "gateway", "--listen", "a b:1"], "not a host"),
            (["c64", "gateway", "--listen", "::1:1"], "brackets"),
            (["c64", "terminal", "--listen", "a b:1"], "not a host"), (["c64", "terminal", "a b:1"], "not a host"),
            // A subcommand's usage, not the root command's.
            (["c64", "run", "x.prg"], "usage: elemental c64 run"),
            // Numbers.
            (["get", "robot", "Speed", "--timeout", "nan"], "--timeout"),
            (["get", "robot", "Speed", "--timeout", "inf"], "--timeout"),
            (["get", "robot", "Speed", "--timeout", "1e30"], "--timeout"),
            (["watch", "robot", "--for", "nan"], "--for"), (["watch", "robot", "--for", "inf"], "--for"),
            (["watch", "robot", "--for", "1e30"], "--for"), (["watch", "robot", "--count", "0"], "--count"),
            (["bench", "latency", "--rate", "nan"], "--rate"), (["bench", "latency", "--rate", "inf"], "--rate"),
            (["bench", "latency", "--count", "1e3"], "--count"), (["bench", "latency", "--pace", "task"], "--rate"),
            (["bench", "latency", "--pace", "soon", "--rate", "5"], "--pace"),
            (["bench", "latency", "--pace", "timer", "--rate", "5", "--via", "ping"], "--pace"),
            (["bench", "latency", "--devices", "3"], "--devices"),
            (["bench", "throughput", "--seconds", "nan"], "--seconds"),
            (["bench", "fanout", "--devices", "0"], "--devices"),
            (["bench", "fanout", "--size", "99999999999999999999"], "--size"),
            (["signalr", "bridge", "robot", "--hub", "http://a/", "--rate", "nan"], "--rate"),
            (["c64", "gateway", "--pty", "--baud", "1201"], "--baud"),
            (["c64", "gateway", "--pty", "--pace", "nan"], "--pace"),
            (["c64", "run", "x.prg", "--seconds", "nan"], "--seconds"),
            (["c64", "cpu-test", "x", "--load", "0x-0", "--start", "0", "--success", "0"], "--load"),
        ] as [([String], String)])
    func refused(_ arguments: [String], _ hint: String) throws { try Mistake.expect(in: arguments, hint) }

    @Test("as a process: text on standard error only, and without escape sequences")
    func text() async throws {
        let result = try await ElementalProcess.run("get", "a:b:\u{1B}[2J", "x")
        #expect(result.status == .exited(64) && result.output.isEmpty)
        #expect(!result.errors.joined().contains("\u{1B}") && result.errors.contains { $0.hasPrefix("Usage:") })
    }

    @Test("as a process with --json: an event on standard output as well")
    func json() async throws {
        let result = try await ElementalProcess.run("get", "127.0.0.1:0", "Speed", "--json")
        #expect(result.status == .exited(64) && result.errors.contains { $0.contains("1 to 65535") })
        #expect(result.output.count == 1)
        let error = try #require(result.output.first.flatMap { JSONLine($0) })
        #expect(error.event == "error" && error["reason"] == "usage")
    }

    @Test(
        "a command that does not exist is named, with what was meant, by help too",
        arguments: [
            (["publsh"], "'elemental' has no command 'publsh'; did you mean 'publish'?"),
            (["publsh", "robot", "--json"], "'publish'"), (["publsh", "--help"], "'publish'"), (["hlp"], "'help'"),
            (["help", "publsh"], "'elemental' has no command 'publsh'; did you mean 'publish'?"),
            (["help", "publsh", "--help"], "'publish'"), (["help", "get", "robot"], "'elemental get' has no command"),
            (["trust", "lst"], "'elemental trust' has no command 'lst'; did you mean 'list'?"),
            (["trust", "rvoke", "Laptop"], "'revoke'"), (["trust", "--json", "lst"], "'list'"),
            (["help", "trust", "lst"], "'elemental trust' has no command 'lst'; did you mean 'list'?"),
            (["c64", "xyz"], "there are: 'gateway', "), (["help", "xyz"], "there are: 'publish', "),
        ])
    func unknownCommand(_ arguments: [String], _ hint: String) throws { try Mistake.expect(in: arguments, hint) }

    @Test(
        "what is no mistake of that kind is left to the parser",
        arguments: [
            (["mqtt", "forgt"], "--broker"),
            (["mqtt", "--broker", "mqtt://pi", "--discovry", "none"], "did you mean '--discovery'"),
            (["get", "robot", "Speed", "--timout", "3"], "did you mean '--timeout'"),
            (["record", "robot", "--to", "x", "--jsn"], "did you mean '--json'"),
            (["trust", "list", "--jsn"], "did you mean '--json'"), (["browse", "robot", "lamp"], "'lamp'"),
        ])
    func otherMistakes(_ arguments: [String], _ hint: String) throws { try Mistake.expect(in: arguments, hint) }

    @Test(arguments: [
        ["help"], ["help", "trust"], ["help", "trust", "list"], ["--help"], ["get", "--help"], ["help", "-h"],
    ])
    func helpIsNoMistake(_ arguments: [String]) async throws {
        #expect(try await expectSuccess(ElementalProcess.run(arguments)).first?.hasPrefix("OVERVIEW: ") == true)
    }

    @Test(
        "as a process: every error begins with the program's name",
        arguments: [["publsh"], ["get"], ["info", "/nowhere"]])
    func prefix(_ arguments: [String]) async throws {
        let result = try await ElementalProcess.run(arguments)
        #expect(result.errors.first?.hasPrefix("elemental: ") == true && result.output.isEmpty, "\(result)")
        #expect(!result.errors.contains { $0.contains("Error:") }, "\(result)")
    }

    @Test(
        "a password in a hub's address is not repeated",
        arguments: [
            ["signalr", "call", "http://me:secret@localhost/", "Add"],
            ["signalr", "bridge", "robot", "--hub", "ftp://me:secret@localhost/"],
            ["c64", "gateway", "--pty", "--map", "ws://a/b=http://me:secret@localhost/"],
            ["c64", "gateway", "--pty", "--map", "ws://a/b=ftp://me:secret@localhost/"],
        ])
    func passwordIsNotRepeated(_ arguments: [String]) throws {
        let mistake = try #require(Mistake(in: arguments))
        #expect(mistake.status == 64 && !mistake.text.contains("secret"), "\(mistake)")
    }

    @Test("an address of another machine is reported in plain words, without SwiftNIO's")
    func addressOfAnotherMachine() async throws {
        let result = try await ElementalProcess.run("c64", "gateway", "--unlisted", "--listen", "192.0.2.1:0")
        #expect(result.status == .exited(1), "\(result)")
        let text = result.errors.joined(separator: " ")
        #expect(text.contains("cannot listen on 192.0.2.1:0: ") && !text.contains("errno"), "\(result)")
    }

    @Test(
        "an unknown host is reported in plain words",
        arguments: [
            (["get", "no..host:80", "Speed"], 3),
            (["publish", "robot", "--unlisted", "--address", "no..host"] + element, 1),
            (["c64", "gateway", "--unlisted", "--listen", "no..host:0"], 1),
        ] as [([String], Int32)])
    func unknownHost(_ arguments: [String], _ status: Int32) async throws {
        let result = try await expectFailure(ElementalProcess.run(arguments), status: status)
        let text = result.errors.joined(separator: " ")
        #expect(text.contains("the host is unknown") && !text.contains("Error"), "\(result)")
    }
}
