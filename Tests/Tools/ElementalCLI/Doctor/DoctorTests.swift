import Foundation
import TestSupport
import Testing

struct DoctorTests {
    /// The findings of a run, by what was looked at.
    private static func findings(_ child: ChildProcess) -> [String: JSONLine] {
        let lines = child.events("finding")
        return Dictionary(lines.compactMap { line in (line["check"] as String?).map { ($0, line) } }) { $1 }
    }

    @Test("on a host of a network everything works, and multicast reaches the other one", .needsTwoHosts, .backstop)
    func healthy() async throws {
        try await withFolder { try await expectHealth(state: $0 + "/state") }
    }

    private func expectHealth(state: String) async throws {
        try await TestBed.with { bed in
            let arguments = ["doctor", "--json", "--state", state]
            let service = ["publish", "robot", "--security", "open", "--element", "1:Speed:float", "--json"]
            try await bed.b.withCommand(service) { service in
                try await service.nextEvent("published")
                try await bed.a.withCommand(arguments) { doctor in
                    let status = try await doctor.waitForExit()
                    let findings = Self.findings(doctor)
                    #expect(status == .exited(0), "\(doctor.transcript)")
                    for check in ["D-Bus", "avahi-daemon", "state directory"] {
                        #expect(findings[check]?["state"] == "ok", "\(check): \(doctor.transcript)")
                    }
                    let multicast = findings.filter { $0.key.hasPrefix("multicast on ") }
                    #expect(multicast.count == 1)
                    for (_, finding) in multicast {
                        #expect(finding["state"] == "ok")
                        let text: String = finding["message"] ?? ""
                        #expect(text.hasPrefix("2 hosts answer"), "\(text)")
                    }
                }
            }
            #expect(!FileManager.default.fileExists(atPath: state))
        }
    }

    private static let withoutBus = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere/bus"]

    @Test(.backstop)
    func withoutABusItSaysWhatToInstall() async throws {
        try await withCommand(["doctor"], environment: Self.withoutBus) { doctor in
            try await doctor.expectExit(1)
            #expect(doctor.lines(of: .output).first == "PROBLEM  D-Bus: there is no message bus at /nowhere/bus")
            #expect(doctor.lines(of: .output)[1].contains("sudo apt-get install dbus avahi-daemon"))
            #expect(doctor.lines(of: .error) == ["elemental: 1 of these does not work"])
        }
    }

    @Test(.backstop)
    func itSaysWhetherThereIsAnIdentity() async throws {
        try await withFolder { folder in
            let state = folder + "/state"
            func expect(_ text: String) async throws {
                try await withCommand(["doctor", "--json", "--state", state], environment: Self.withoutBus) { doctor in
                    try await doctor.expectExit(1)
                    #expect(Self.findings(doctor)["state directory"]?["message"] == text, "\(doctor.transcript)")
                }
            }
            try await expect("the first command that needs an identity creates \(state)")
            // As the dashboard makes it, whose own directory is below.
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try await expect("\(state) has no identity yet: the first command that needs one creates it")
            try await expectSuccess("trust", "--state", state)
            try await expect("identity and trusted peers are in \(state)")
        }
    }

    @Test(.backstop)
    func aStateDirectoryThatCannotBeUsedIsAProblem() async throws {
        try await withFolder { folder in
            let file = folder + "/file"
            try Data().write(to: URL(filePath: file))
            try await withCommand(["doctor", "--json", "--state", file], environment: Self.withoutBus) { doctor in
                try await doctor.expectExit(1)
                #expect(Self.findings(doctor)["state directory"]?["state"] == "problem", "\(doctor.transcript)")
                #expect(Self.findings(doctor)["avahi-daemon"]?["state"] == "skipped")
                #expect(doctor.events("examined").first?.number("problems") == 2)
            }
        }
    }
}
