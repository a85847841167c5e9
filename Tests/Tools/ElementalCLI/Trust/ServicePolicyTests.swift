import ElementalSecurity
import Foundation
import TestSupport
import Testing

/// `--security` and `--state` of the commands that serve.
struct ServicePolicyTests {
    @Test
    func whoIsNotPairedReadsByDefaultAndTheOwnUserControls() async throws {
        try await Serving.with { serving in
            try await serving.robot { service, target in
                let remark = try await service.nextRemark("paired-to-control")
                #expect(remark.contains("may only read") && remark.contains("--security open"), "\(remark)")
                let get = try await ElementalProcess.run("get", target, "Speed", "--security", "open")
                #expect(get.output == ["Speed=0.5"], "\(get)")
                let plain = try await service.nextEvent("connected")
                #expect(plain["role"] == "plain")
                #expect((plain["fingerprint"] as String?) == nil)
                try await expectFailure("set", target, "Speed=1", "--security", "open", status: 4)
                try await expectSuccess(serving.run("set", target, "Speed=0.25", "--security", "paired"))
                let own = try #require(try SecurityState.existing(directory: serving.state)?.identity.fingerprint)
                let connected = try await service.nextEvent("connected") { $0["role"] == "control" }
                #expect(connected["fingerprint"] == "\(own)")
                #expect(try await service.nextEvent("value").number("value") == 0.25)
            }
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::1"])
    func onLoopbackAloneEverybodyControlsByDefault(_ address: String) async throws {
        try await Serving.with { serving in
            try await serving.robot("--address", address) { service, target in
                try await service.nextRemark("is open: every program on this machine may control it")
                let host = address == "::1" ? target.replacing("127.0.0.1", with: "[::1]") : target
                try await expectSuccess("set", host, "Speed=1", "--security", "open")
            }
            // Nothing needed an identity.
            #expect(!FileManager.default.fileExists(atPath: serving.state))
        }
    }

    @Test(arguments: [("open", true), ("paired-to-control", false), ("paired", false)])
    func whatIsSaidIsDoneWithoutARemark(_ policy: String, _ controls: Bool) async throws {
        try await Serving.with { serving in
            _ = try await serving.run("trust")
            _ = try await serving.run(
                "trust", "add", Self.laptop, "--name", "Laptop", "--role", "control", "--service", "lamp")
            try await serving.robot("--security", policy, "--address", "127.0.0.1") { service, target in
                let set = try await ElementalProcess.run("set", target, "Speed=1", "--security", "open")
                #expect(set.status == .exited(controls ? 0 : 4), "\(set)")
                let get = try await ElementalProcess.run("get", target, "Speed", "--security", "open")
                #expect(get.status == .exited(policy == "paired" ? 4 : 0), "\(get)")
                #expect(!service.lines(of: .error).contains { $0.contains("open") && $0.contains("control it") })
                #expect(!service.lines(of: .error).contains { $0.contains("Laptop") })
            }
        }
    }

    private static let laptop = "mfrggzdfmztwq2lkmfrggzdfmztwq2lkmfrggzdfmztwq2lkmfra"

    @Test
    func anOpenServiceSaysWhomItLeavesOut() async throws {
        try await Serving.with { serving in
            _ = try await serving.run("trust", "add", Self.laptop, "--name", "Laptop", "--role", "control")
            try await serving.robot("--security", "open") { service, _ in
                let remark = try await service.nextRemark("'Laptop'")
                #expect(remark.contains("do not encrypt"), "\(remark)")
            }
        }
    }

    @Test(arguments: [
        Serving.robot, ["bench", "serve"], ["c64", "gateway", "--pty", "--unlisted"], ["browse", "--for", "1"],
    ])
    func aDamagedStoreIsNotUsed(_ command: [String]) async throws {
        try await Serving.with { serving in
            _ = try await serving.run("trust")
            try Data("{".utf8).write(to: URL(filePath: serving.state + "/trust.json"))
            let result = try await expectFailure(ElementalProcess.run(command + ["--json", "--state", serving.state]))
            #expect(result.errors.last?.contains("\(serving.state)/trust.json is damaged") == true, "\(result)")
            #expect(JSONLine(result.output.last ?? "")?["reason"] == "corrupt")
        }
    }

    @Test
    func withoutAPlaceForAnIdentityOnlyAnOpenServiceStarts() async throws {
        let bare = ["-u", "HOME", "-u", "ELEMENTAL_STATE", "-u", "STATE_DIRECTORY", "-u", "XDG_STATE_HOME"]
        let command = try bare + [ElementalProcess.path] + Serving.robot + ["--json"]
        try await ChildProcess.with("env", command) { service in
            #expect(try await service.waitForExit() == .exited(1))
            let error = try #require(JSONLine(service.lines(of: .output).last ?? ""))
            #expect(error["reason"] == "noStateDirectory")
            let message = try #require(error["message"] as String?)
            #expect(message.contains("--state DIR") && message.contains("--security open"), "\(message)")
        }
        try await ChildProcess.with("env", command + ["--security", "open"]) { service in
            let listening = try await service.nextEvent("listening")
            #expect(listening["security"] == "open")
        }
    }
}
