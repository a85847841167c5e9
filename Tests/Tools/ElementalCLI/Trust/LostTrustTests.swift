import ElementalSecurity
import Foundation
import TestSupport
import Testing

/// A state directory that changes while a service runs.
struct LostTrustTests {
    @Test(arguments: ["reset", "another key", "removed"])
    func aServiceEndsWithItsIdentity(_ change: String) async throws {
        try await Serving.with { serving in
            try await serving.robot("--security", "paired") { service, target in
                let file = serving.state + "/identity.pem"
                switch change {
                case "reset": try await expectSuccess(serving.run("trust", "reset", "--yes"))
                case "removed": try FileManager.default.removeItem(atPath: file)
                default:
                    let other = try SecurityState(directory: serving.state + "-other")
                    try await ChildProcess.run("mv", [other.directory + "/identity.pem", file])
                }
                #expect(try await service.waitForExit() == .exited(6))
                let error = try #require(JSONLine(service.lines(of: .output).last ?? ""))
                #expect(error.event == "error" && error["reason"] == "identityChanged")
                let message = try #require(error["message"] as String?)
                #expect(message.contains(file) && message.contains("restart"), "\(message)")
            }
        }
    }

    @Test(arguments: [
        ("rm trust.json", "is missing"), ("chmod 644 trust.json", "chmod 600"), ("echo { > trust.json", "is damaged"),
    ])
    func aServiceThatCannotReadWhomItTrustsSaysSoAndTrustsNobody(_ change: String, _ words: String) async throws {
        try await Serving.with { serving in
            try await serving.robot("--security", "paired") { service, target in
                try await expectSuccess(serving.run("set", target, "Speed=1", "--security", "paired"))
                func script(_ text: String) async throws {
                    try await ChildProcess.run("sh", ["-c", "cd \(serving.state) && umask 077 && \(text)"])
                }
                try await script("cp trust.json ../copy && \(change)")
                let event = try await service.nextEvent("trustUnavailable")
                let message = try #require(event["message"] as String?)
                #expect(message.contains("trusts no clients") && message.contains("trust.json"), "\(message)")
                #expect(message.contains(words), "\(message)")
                // The same user's key, in a directory that is whole.
                try await script("mkdir ../user && cp identity.pem ../user && cp ../copy ../user/trust.json")
                func set() async throws -> CommandResult {
                    try await ElementalProcess.run(
                        "set", target, "Speed=1", "--security", "paired", "--state", serving.state + "/../user")
                }
                let refused = try await expectFailure(set(), status: 2)
                #expect(refused.errors.last?.contains("cannot read its trust store") == true, "\(refused)")
                try await script("chmod 600 ../copy && mv ../copy trust.json")
                try await service.nextEvent("trustAvailable")
                try await expectSuccess(set())
            }
        }
    }
}
