import Foundation
import TestSupport
import Testing

/// `elemental trust`: the identity of a state directory, and whom it trusts.
struct TrustCommandTests {
    private static let laptop = "mfrggzdfmztwq2lkmfrggzdfmztwq2lkmfrggzdfmztwq2lkmfra"

    private static func inDirectory(_ body: (String) async throws -> Void) async throws {
        try await withFolder { try await body($0 + "/state") }
    }

    private static func trust(
        _ arguments: String..., state: String
    ) async throws -> (status: ChildProcess.ExitStatus, output: [String], errors: [String]) {
        try await ElementalProcess.run(["trust"] + arguments + ["--state", state])
    }

    @Test
    func theFingerprintIsMadeOnceAndKeptSecretFromOthers() async throws {
        try await Self.inDirectory { state in
            let first = try await Self.trust(state: state)
            #expect(first.status == .exited(0), "\(first)")
            let fingerprint = try #require(first.output.first)
            #expect(fingerprint.count == 64)
            #expect(try await Self.trust("show", state: state).output == [fingerprint])
            let json = try #require(JSONLine(try await Self.trust("--json", state: state).output.first ?? ""))
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
        try await Self.inDirectory { state in
            let none = try await Self.trust("list", state: state)
            #expect(none.status == .exited(0))
            #expect(none.output.isEmpty)
            #expect(none.errors == ["nobody is trusted yet"])
            let own = try #require(try await Self.trust(state: state).output.first)
            let added = try await Self.trust(
                "add", Self.laptop.uppercased(), "--name", "Laptop", "--role", "observe", "--service", "robot",
                state: state)
            #expect(added.status == .exited(0), "\(added)")
            #expect(added.output.first == "client 'Laptop', observe of robot")
            let pinned = try await Self.trust("add", Self.laptop, "--name", "robot/Rover", state: state)
            #expect(pinned.output.first == "service 'robot/Rover', control")
            let list = try await Self.trust("list", "--json", state: state).output.compactMap { JSONLine($0) }
            #expect(list.map(\.event) == ["trusted", "trusted"])
            #expect(list.map { $0.string("kind") } == ["client", "service"])
            #expect(list.map { $0.string("name") } == ["Laptop", "robot/Rover"])
            #expect(list.map { $0.string("role") } == ["observe", "control"])
            // Its own key needs no trust.
            let ownKey = try await Self.trust("add", own, "--name", "Me", "--role", "admin", state: state)
            #expect(ownKey.status == .exited(1))
            #expect(ownKey.errors.first?.contains("own key") == true, "\(ownKey)")
            let revoked = try await Self.trust("revoke", "Laptop", "--json", state: state)
            #expect(JSONLine(revoked.output.first ?? "")?.event == "revoked")
            #expect(try await Self.trust("list", state: state).output.first == "service 'robot/Rover', control")
            let again = try await Self.trust("revoke", "Laptop", "--json", state: state)
            #expect(again.status == .exited(1))
            #expect(JSONLine(again.output.last ?? "")?.string("code") == "unknownPeer")
        }
    }

    @Test
    func aPartOfAFingerprintIsNotAccepted() throws {
        let part = String(Self.laptop.prefix(16))
        try Mistake.expect(in: ["trust", "add", part, "--name", "Laptop", "--role", "control"])
    }

    @Test(arguments: [
        ["--name", "Laptop"], ["--name", "Laptop", "--role", "plain"], ["--name", "robot/Rover", "--role", "admin"],
        ["--name", "robot/Rover", "--service", "robot"],
    ])
    func whatIsMissingOrContradictsIsAMistake(arguments: [String]) throws {
        try Mistake.expect(in: ["trust", "add", Self.laptop] + arguments)
    }

    @Test
    func testsDoNotTouchTheUsersOwnState() async throws {
        let identity = try #require(JSONLine(try await ElementalProcess.run("trust", "--json").output.first ?? ""))
        #expect(identity.string("state")?.hasPrefix(FileManager.default.temporaryDirectory.path) == true)
        let again = JSONLine(try await ElementalProcess.run("trust", "--json").output.first ?? "")
        #expect(again?.string("state") == identity.string("state"))
    }

    @Test
    func aDamagedStoreIsSaidAndNotReplaced() async throws {
        try await Self.inDirectory { state in
            _ = try await Self.trust(state: state)
            try Data("{".utf8).write(to: URL(fileURLWithPath: state + "/trust.json"))
            let list = try await Self.trust("list", "--json", state: state)
            #expect(list.status == .exited(1))
            #expect(list.errors.first?.contains("\(state)/trust.json is damaged") == true, "\(list)")
            #expect(JSONLine(list.output.last ?? "")?.string("code") == "corrupt")
            #expect(try String(contentsOfFile: state + "/trust.json", encoding: .utf8) == "{")
            #expect(try await Self.trust("reset", state: state).status == .exited(64))
            #expect(try await Self.trust("reset", "--yes", state: state).status == .exited(0))
            #expect(try await Self.trust("list", state: state).status == .exited(0))
        }
    }
}

extension JSONLine {
    fileprivate func string(_ key: String) -> String? { self[key] }
}
