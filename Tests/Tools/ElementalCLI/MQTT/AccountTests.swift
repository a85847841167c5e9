import Foundation
import TestSupport
import Testing

/// Brokers that do not let everybody in.
@Suite(.needsMosquitto)
struct AccountTests {
    /// Expects that a bridge with these options reaches the broker and publishes.
    private static func expectBridging(
        _ port: Int, _ target: String, _ url: String, _ options: [String], login: [String]
    ) async throws {
        let command = ["mqtt", target, "--broker", url, "--json"] + options
        try await withCommand(command) { bridge in
            try await bridge.nextEvent("bridging")
            try await TopicWatch.with(port: port, ["elemental/#"], login: login) { watch in
                let device = try await DeviceTopics.ofAddress(target, in: watch)
                try await watch.wait(for: device("speed"), toBe: "0.5")
            }
        }
    }

    /// Expects that the broker's refusal is told, in words that name what a person can change, and without a secret.
    private static func expectRefusal(
        _ port: Int, _ target: String, _ user: String, _ option: [String], hint: String
    ) async throws {
        let url = "mqtt://\(user)127.0.0.1:\(port)"
        try await withCommand(["mqtt", target, "--broker", url, "--json"] + option) { bridge in
            let told = try await bridge.nextLine("a refusal") { $0.contains(hint) }
            #expect(!told.text.contains("lovelace") && !told.text.contains("wrong"))
            try await bridge.expectExit(4)
        }
    }

    @Test(.backstop, arguments: [BrokerKind.mosquitto, .nats].filter(\.isThere))
    func aWrongPasswordIsSaidAndARightOneWorks(kind: BrokerKind) async throws {
        try await withFolder { folder in
            func password(_ text: String) throws -> [String] {
                try Data("\(text)\n".utf8).write(to: URL(filePath: "\(folder)/\(text)"))
                return ["--password", "@\(folder)/\(text)"]
            }
            try await kind.with(user: "ada", password: "lovelace") { broker in
                try await Robot.with { _, target in
                    for (user, option) in [("ada@", try password("wrong")), ("bob@", try password("lovelace"))] {
                        try await Self.expectRefusal(broker.port, target, user, option, hint: "password")
                    }
                    if kind == .mosquitto {
                        try await Self.expectRefusal(broker.port, target, "", [], hint: "allow_anonymous")
                    }
                    try await Self.expectBridging(
                        broker.port, target, "mqtt://ada@127.0.0.1:\(broker.port)", try password("lovelace"),
                        login: ["-u", "ada", "-P", "lovelace"])
                }
            }
        }
    }

    @Test(.backstop)
    func aBrokerWithACertificateOfItsOwn() async throws {
        try await MosquittoBroker.with(isSecure: true) { broker in
            let authority = try #require(broker.certificates?.authority)
            try await Robot.with { _, target in
                let url = "mqtts://localhost:\(broker.port)"
                _ = try await withCommand(["mqtt", target, "--broker", url, "--json"]) {
                    try await $0.nextLine("that nobody vouches") { $0.contains("certificate") }
                }
                try await Self.expectBridging(
                    broker.port, target, url, ["--trust", authority], login: ["--cafile", authority])
            }
        }
    }
}

struct BrokerOptionTests {
    @Test(arguments: [
        ["--broker", "http://localhost"], ["--broker", "mqtt://"], ["--broker", "mqtt://localhost:0"],
        ["--broker", "mqtt://localhost", "--rate", "-1"], ["--broker", "mqtt://localhost", "--base", "a/+"],
        ["--broker", "mqtt://localhost", "--id", ""], ["--broker", "mqtt://localhost", "--map", "Speed"],
        ["--broker", "mqtt://localhost", "--map", "Speed=toaster"],
        ["--broker", "mqtt://localhost", "--password", "secret"],
        ["--broker", "mqtt://ada:secret@localhost"], ["--broker", "mqtt://localhost", "--discovery", "maybe"], [],
    ])
    func mistakes(_ arguments: [String]) throws {
        try Mistake.expect(in: ["mqtt", "127.0.0.1:1"] + arguments)
    }
}
