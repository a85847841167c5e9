import ElementalSecurity
import Foundation
import TestSupport
import Testing

@testable import ElementalCLI

/// `elemental alias`: a user's own names for TARGETs.
struct AliasTests {
    private static let key = "mfrggzdfmztwq2lkmfrggzdfmztwq2lkmfrggzdfmztwq2lkmfra"

    @Test
    func anAliasIsKeptUsedAndRemoved() async throws {
        try await Serving.with { serving in
            try await serving.robot { _, target in
                #expect(try await serving.run("alias").output.isEmpty)
                #expect(
                    expectSuccess(try await serving.run("alias", "desk", "lamp/Desk $(lamp)")) == [
                        "desk  'lamp/Desk $(lamp)'"
                    ])
                expectSuccess(try await serving.run("alias", "rover", target))
                #expect(
                    expectSuccess(try await serving.run("alias")) == ["desk   'lamp/Desk $(lamp)'", "rover  \(target)"])
                #expect(
                    expectSuccess(try await serving.run("alias", "--json")).last
                        == #"{"event":"alias","alias":"rover","target":"\#(target)"}"#)
                #expect(expectSuccess(try await serving.run("get", "rover", "Speed")) == ["Speed=0.5"])
                // It is the text that was given, also in case.
                expectFailure(try await serving.run("get", "Rover", "Speed", "--timeout", "0.1"), status: 3)
                let file = serving.state + "/" + Aliases.file
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                #expect(
                    expectSuccess(try await serving.run("alias", "--remove", "rover")) == ["removed: rover  \(target)"])
                expectFailure(try await serving.run("alias", "--remove", "rover"), status: 3)
                #expect(expectSuccess(try await serving.run("alias")).count == 1)
            }
        }
    }

    @Test
    func commandsThatFollowServicesTakeOne() async throws {
        try await Serving.with { serving in
            try await serving.robot { _, target in
                expectSuccess(try await serving.run("alias", "rover", target))
                let metrics = expectSuccess(try await serving.run("metrics", "rover", "--once"))
                #expect(metrics.contains { $0.hasPrefix("elemental_") && $0.contains("0.5") }, "\(metrics)")
                let file = serving.state + "/robot.mcap"
                let recorded = try await serving.run("record", "rover", "--to", file, "--for", "0.2")
                expectSuccess(recorded)
            }
        }
    }

    @Test(arguments: [
        "a/b", "127.0.0.1:1", "--state", "-v", "", "two words", "x\u{1B}[2J", "longer-than-a-service",
    ])
    func anAliasIsTypedLikeAService(_ name: String) {
        var aliases = Aliases()
        #expect(throws: CommandFailure.self) { try aliases.set(name, to: "robot/Rover") }
    }

    @Test(arguments: ["--state=/tmp", "-v", "", "robot/", "lamp", "desk", "robot/" + String(repeating: "x", count: 64)])
    func anAliasStandsForATargetAlone(_ target: String) throws {
        var aliases = Aliases()
        try aliases.set("lamp", to: "lamp/Desk lamp")
        #expect(throws: CommandFailure.self) { try aliases.set("desk", to: target) }
        #expect(aliases.targets == ["lamp": "lamp/Desk lamp"])
    }

    @Test
    func noAliasIsMadeOfAnAliasesTarget() throws {
        var aliases = Aliases()
        try aliases.set("desk", to: "lamp")
        #expect(throws: CommandFailure.self) { try aliases.set("lamp", to: "robot/Rover") }
        try aliases.set("desk", to: "lamp/Desk lamp")
        try aliases.set("lamp", to: "robot/Rover")
        #expect(aliases["lamp"] == .service("robot", name: "Rover"))
    }

    @Test
    func theirNumberIsBounded() throws {
        var aliases = Aliases()
        for number in 0..<Aliases.maximumCount { try aliases.set("alias-\(number)", to: "robot/Rover") }
        try aliases.set("alias-0", to: "robot/Other")
        #expect(throws: CommandFailure.self) { try aliases.set("one-more", to: "robot/Rover") }
        #expect(try Aliases(parsing: aliases.bytes).targets == aliases.targets)
    }

    @Test(arguments: ["lamp", "Lamp", "desk"])
    func aPairedServiceHasItsNameForItself(_ name: String) async throws {
        try await Serving.with { serving in
            try await serving.robot { _, target in
                // There before the pairing.
                expectSuccess(try await serving.run("alias", name, target))
                expectSuccess(try await serving.run("get", name, "Speed"))
                expectSuccess(try await serving.run("trust", "add", Self.key, "--name", "lamp/Desk"))
                let get = expectFailure(try await serving.run("get", name, "Speed", "--timeout", "0.1"), status: 3)
                #expect(
                    get.errors.first
                        == "elemental: the alias '\(name)' would hide the paired service 'lamp/Desk', and is "
                        + "ignored")
                expectFailure(try await serving.run("alias", name, target))
                expectSuccess(try await serving.run("alias", "--remove", name))
            }
        }
    }

    @Test(arguments: [
        #"{"rover": "--state=/tmp"}"#, #"{"rover": "other", "other": "robot/Rover"}"#, #"["rover"]"#, "{",
        #"{"--state": "robot/Rover"}"#, #"{"rover": "127.0.0.1:1", "x\u001b[2J": "robot/Rover"}"#,
        "{\"rover\": \"robot/\(String(repeating: "x", count: Aliases.maximumByteCount))\"}",
    ])
    func aHostileFileIsIgnored(_ content: String) async throws {
        try await Serving.with { serving in
            try await serving.robot { _, _ in
                let file = serving.state + "/" + Aliases.file
                try Data(content.utf8).write(to: URL(filePath: file))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
                let get = expectFailure(try await serving.run("get", "rover", "Speed", "--timeout", "0.1"), status: 3)
                #expect(get.errors.first?.hasPrefix("elemental: the aliases are ignored: ") == true, "\(get)")
                #expect(!get.errors.joined().contains("\u{1B}"))
                // Nor is it written over, for it may be somebody's mistake.
                expectFailure(try await serving.run("alias", "desk", "lamp/Desk"))
                #expect(try String(contentsOfFile: file, encoding: .utf8) == content)
            }
        }
    }

    @Test
    func aLinkOrAFileOfEverybodyIsIgnored() async throws {
        try await Serving.with { serving in
            try await serving.robot { _, target in
                let file = serving.state + "/" + Aliases.file
                let content = Data(#"{"rover": "\#(target)"}"#.utf8)
                try content.write(to: URL(filePath: file))
                try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
                expectFailure(try await serving.run("get", "rover", "Speed", "--timeout", "0.1"), status: 3)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
                expectSuccess(try await serving.run("get", "rover", "Speed"))
                try FileManager.default.moveItem(atPath: file, toPath: file + ".other")
                try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: file + ".other")
                expectFailure(try await serving.run("get", "rover", "Speed", "--timeout", "0.1"), status: 3)
            }
        }
    }
}
