import Foundation
import TestSupport
import Testing

/// Brokers that do not let everybody in.
@Suite(
    .enabled(
        if: MosquittoBroker.unavailableReason == nil && MQTTPeers.haveClients,
        "no mosquitto: run Tests/mqtt-peers/install"))
struct AccountTests {
    /// A file with a password, and the options that name it.
    private static func withPassword<Result>(
        _ text: String, _ body: ([String]) async throws -> Result
    ) async throws -> Result {
        let file = FileManager.default.temporaryDirectory.appending(path: "password-\(UUID().uuidString)")
        try Data((text + "\n").utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await body(["--password", "@\(file.path)"])
    }

    private static let settings = ["allow_anonymous false", "password_file {folder}/passwords"]

    @Test(.backstop)
    func aWrongPasswordIsSaidAndARightOneWorks() async throws {
        try await MosquittoBroker.with(Self.settings, users: ["ada": "lovelace"]) { broker in
            try await BridgeBed.withService(["1:Speed:float=0.5"]) { _, target in
                for (user, password) in [("ada@", "wrong"), ("bob@", "lovelace")] {
                    try await Self.withPassword(password) { option in
                        try await Self.expectRefusal(broker, target, user, option, hint: "password")
                    }
                }
                try await Self.expectRefusal(broker, target, "", [], hint: "allow_anonymous")
                try await Self.withPassword("lovelace") { option in
                    let url = "mqtt://ada@127.0.0.1:\(broker.port)"
                    try await ChildProcess.with(
                        ElementalProcess.path, ["mqtt", target, "--broker", url, "--json"] + option
                    ) { bridge in
                        try await bridge.nextEvent("bridging")
                        try await TopicWatch.with(port: broker.port, login: ["-u", "ada", "-P", "lovelace"]) { watch in
                            let device = try await DeviceTopics.ofAddress(target, in: watch)
                            try await watch.wait(for: device("speed"), toBe: "0.5")
                        }
                    }
                }
            }
        }
    }

    /// The broker's refusal is told, in words that name what a person can change, and no secret.
    private static func expectRefusal(
        _ broker: MosquittoBroker, _ target: String, _ user: String, _ option: [String], hint: String
    ) async throws {
        let url = "mqtt://\(user)127.0.0.1:\(broker.port)"
        try await ChildProcess.with(
            ElementalProcess.path, ["mqtt", target, "--broker", url, "--json"] + option
        ) { bridge in
            let told = try await bridge.nextLine("a refusal") { $0.contains(hint) }
            #expect(!told.text.contains("lovelace") && !told.text.contains("wrong"))
            bridge.send(signal: SIGTERM)
            _ = try await bridge.waitForExit()
        }
    }

    @Test(.backstop)
    func aBrokerWithACertificateOfItsOwn() async throws {
        try await MosquittoBroker.with(isSecure: true) { broker in
            let authority = try #require(broker.certificates?.authority)
            try await BridgeBed.withService(["1:Speed:float=0.5"]) { _, target in
                let command = ["mqtt", target, "--broker", "mqtts://localhost:\(broker.port)", "--json"]
                try await ChildProcess.with(ElementalProcess.path, command) { bridge in
                    _ = try await bridge.nextLine("that nobody vouches") {
                        $0.contains("certificate")
                    }
                }
                try await ChildProcess.with(ElementalProcess.path, command + ["--trust", authority]) { bridge in
                    try await bridge.nextEvent("bridging")
                    try await TopicWatch.with(port: broker.port, login: ["--cafile", authority]) { watch in
                        let device = try await DeviceTopics.ofAddress(target, in: watch)
                        try await watch.wait(for: device("speed"), toBe: "0.5")
                    }
                }
            }
        }
    }

    @Test(
        .enabled(if: NATSBroker.unavailableReason == nil, Comment(rawValue: NATSBroker.unavailableReason ?? "")),
        .backstop)
    func anAccountOfNATS() async throws {
        try await NATSBroker(user: ("ada", "lovelace")).run { broker in
            try await BridgeBed.withService(["1:Speed:float=0.5"]) { _, target in
                try await Self.withPassword("lovelace") { option in
                    let url = "mqtt://ada@127.0.0.1:\(broker.port)"
                    try await ChildProcess.with(
                        ElementalProcess.path, ["mqtt", target, "--broker", url, "--json"] + option
                    ) { bridge in
                        try await bridge.nextEvent("bridging")
                        let login = ["-u", "ada", "-P", "lovelace"]
                        try await TopicWatch.with(port: broker.port, ["elemental/#"], login: login) { watch in
                            let device = try await DeviceTopics.ofAddress(target, in: watch)
                            try await watch.wait(for: device("speed"), toBe: "0.5")
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: [
        ["--broker", "http://localhost"], ["--broker", "mqtt://"], ["--broker", "mqtt://localhost:0"],
        ["--broker", "mqtt://localhost", "--rate", "-1"], ["--broker", "mqtt://localhost", "--base", "a/+"],
        ["--broker", "mqtt://localhost", "--id", ""], ["--broker", "mqtt://localhost", "--as", "Speed"],
        ["--broker", "mqtt://localhost", "--as", "Speed=toaster"],
        ["--broker", "mqtt://localhost", "--password", "secret"],
        ["--broker", "mqtt://ada:secret@localhost"], ["--broker", "mqtt://localhost", "--discovery", "maybe"], [],
    ])
    func mistakesOnTheCommandLine(_ arguments: [String]) async throws {
        let (status, _, errors) = try await ElementalProcess.run(
            ["mqtt", "127.0.0.1:1"] + arguments)
        #expect(status == .exited(64), "\(errors)")
        #expect(!errors.isEmpty)
    }
}
