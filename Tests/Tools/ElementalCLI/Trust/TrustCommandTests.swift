import Foundation
import TestSupport
import Testing

/// `elemental trust`: the identity of a state directory, and whom it trusts.
struct TrustCommandTests {
    private static let laptop = "mfrggzdfmztwq2lkmfrggzdfmztwq2lkmfrggzdfmztwq2lkmfra"

    @Test
    func theFingerprintIsMadeOnceAndKeptSecretFromOthers() async throws {
        try await Serving.with { serving in
            let state = serving.state
            let first = try await expectSuccess(serving.run("trust")).first
            let fingerprint = try #require(first)
            #expect(fingerprint.count == 64)
            #expect(try await serving.run("trust", "show").output == [fingerprint])
            let json = try #require(JSONLine(try await serving.run("trust", "--json").output.first ?? ""))
            #expect(json.event == "identity")
            #expect(json.string("fingerprint") == fingerprint)
            #expect(json.string("id") == String(fingerprint.filter { $0 != "-" }.prefix(16)))
            #expect(json.string("state") == state)
            for (file, mode) in [(state, 0o700), (state + "/identity.pem", 0o600), (state + "/trust.json", 0o600)] {
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                #expect((attributes[.posixPermissions] as? Int) == mode, "\(file)")
            }
        }
    }

    @Test
    func peersAreAddedListedAndRevoked() async throws {
        try await Serving.with { serving in
            let none = try await serving.run("trust", "list")
            #expect(none.status == .exited(0) && none.output.isEmpty && none.errors == ["no peer is trusted yet"])
            let own = try #require(try await serving.run("trust").output.first)
            let added = try await serving.run(
                "trust", "add", Self.laptop.uppercased(), "--name", "Laptop", "--role", "observe", "--service", "robot")
            #expect(added.status == .exited(0) && added.output.first == "client 'Laptop', observe of robot")
            let pinned = try await serving.run("trust", "add", Self.laptop, "--name", "robot/Rover")
            #expect(pinned.output.first == "service 'robot/Rover', control")
            let list = try await serving.run("trust", "list", "--json").output.compactMap { JSONLine($0) }
            #expect(list.map(\.event) == ["trusted", "trusted"])
            #expect(list.map { $0.string("kind") } == ["client", "service"])
            #expect(list.map { $0.string("client") } == ["Laptop", nil])
            #expect(list.map { $0.string("service") } == [nil, "robot"])
            #expect(list.map { $0.string("instance") } == [nil, "Rover"])
            #expect(list.map { $0.string("role") } == ["observe", "control"])
            // Its own key needs no trust.
            let ownKey = try await expectFailure(
                serving.run("trust", "add", own, "--name", "Me", "--role", "admin"))
            #expect(ownKey.errors.first?.contains("own key") == true, "\(ownKey)")
            let revoked = try await serving.run("trust", "revoke", "Laptop", "--json")
            #expect(JSONLine(revoked.output.first ?? "")?.event == "revoked")
            let rows = try await serving.run("trust", "list").output
            #expect(rows.count == 2 && rows.last?.hasPrefix("service  robot/Rover  control  ") == true, "\(rows)")
            let again = try await expectFailure(serving.run("trust", "revoke", "Laptop", "--json"), status: 3)
            #expect(JSONLine(again.output.last ?? "")?.string("reason") == "unknownPeer")
        }
    }

    @Test(arguments: [
        // A part of a fingerprint.
        [String(laptop.prefix(16)), "--name", "Laptop", "--role", "control"],
        // What is missing or contradicts.
        [laptop, "--name", "Laptop"], [laptop, "--name", "Laptop", "--role", "plain"],
        [laptop, "--name", "robot/Rover", "--role", "admin"], [laptop, "--name", "robot/Rover", "--service", "robot"],
    ])
    func mistakes(_ arguments: [String]) throws { try Mistake.expect(in: ["trust", "add"] + arguments) }

    @Test
    func testsDoNotTouchTheUsersOwnState() async throws {
        let identity = try #require(JSONLine(try await ElementalProcess.run("trust", "--json").output.first ?? ""))
        #expect(identity.string("state")?.hasPrefix(FileManager.default.temporaryDirectory.path) == true)
        let again = JSONLine(try await ElementalProcess.run("trust", "--json").output.first ?? "")
        #expect(again?.string("state") == identity.string("state"))
    }

    @Test
    func aDamagedStoreIsSaidAndNotReplaced() async throws {
        try await Serving.with { serving in
            _ = try await serving.run("trust")
            let file = serving.state + "/trust.json"
            try Data("{".utf8).write(to: URL(filePath: file))
            let list = try await expectFailure(serving.run("trust", "list", "--json"))
            #expect(list.errors.first?.contains("\(file) is damaged") == true, "\(list)")
            #expect(JSONLine(list.output.last ?? "")?.string("reason") == "corrupt")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "{")
            #expect(try await serving.run("trust", "reset").status == .exited(64))
            #expect(try await serving.run("trust", "reset", "--yes").status == .exited(0))
            #expect(try await serving.run("trust", "list").status == .exited(0))
        }
    }
}

extension JSONLine {
    fileprivate func string(_ key: String) -> String? { self[key] }
}
