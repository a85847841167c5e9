import Foundation
import TestSupport
import Testing

@testable import ElementalCLI

/// What `elemental doctor` makes of the machine's state, which the tests make up.
struct DoctorCheckTests {
    private static let day = 86_400
    /// 1 January 2026.
    private static let earliest = 1_767_225_600

    @Test(
        arguments: [
            (0, true, Finding.State.problem, "years behind"), (earliest - 1, true, .problem, "years behind"),
            (earliest, true, .ok, "a time server sets the clock"), (earliest, false, .skipped, "cannot tell"),
            (earliest + 3650 * day, true, .ok, "a time server"),
        ] as [(Int, Bool, Finding.State, String)])
    func clock(_ now: Int, _ isKept: Bool, _ state: Finding.State, _ text: String) async throws {
        try await withFolder { folder in
            if isKept { try Data().write(to: URL(filePath: folder + "/synchronized")) }
            let finding = ClockCheck.run(now: now, mark: folder + "/synchronized")
            #expect(finding.state == state && finding.text.contains(text), "\(finding)")
            #expect((finding.advice == nil) == (state == .ok), "\(finding)")
        }
    }

    @Test(
        arguments: [
            (1024, 1_048_576, Finding.State.ok, "1024 may be open, and 1048576"), (1024, 1280, .ok, "1280"),
            (1024, 1279, .warning, "only 1279 files and sockets may be open"), (0, 0, .warning, "only 0"),
        ] as [(UInt64, UInt64, Finding.State, String)])
    func descriptors(_ soft: UInt64, _ hard: UInt64, _ state: Finding.State, _ text: String) {
        let finding = DescriptorCheck.run((soft, hard))
        #expect(finding.state == state && finding.text.contains(text), "\(finding)")
        #expect((finding.advice?.contains("LimitNOFILE") ?? false) == (state == .warning), "\(finding)")
    }

    @Test(
        arguments: [
            ([:], ["neither ufw nor firewalld is on"]), (["/etc/ufw/ufw.conf": "ENABLED=no\n"], ["neither"]),
            (["/etc/ufw/ufw.conf": "# on\nENABLED=yes\n"], ["ufw is on"]),
            (["/run/firewalld.pid": "1"], ["firewalld is on"]),
            (["/run/firewalld/x": ""], ["firewalld is on"]),
            (["/etc/ufw/ufw.conf": "ENABLED=yes", "/run/firewalld.pid": "1"], ["ufw is on", "firewalld is on"]),
        ] as [([String: String], [String])])
    func firewalls(_ files: [String: String], _ texts: [String]) async throws {
        try await withFolder { root in
            for (file, text) in files {
                let place = URL(filePath: root + file)
                try FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: place)
            }
            let findings = FirewallCheck.run(root: root)
            #expect(findings.count == texts.count, "\(findings)")
            for (finding, text) in zip(findings, texts) {
                #expect(finding.text.hasPrefix(text), "\(finding)")
                let isOn = text.hasSuffix("is on") && !text.hasPrefix("neither")
                #expect(finding.state == (isOn ? .warning : .ok), "\(finding)")
                #expect((finding.advice?.contains("PORT") ?? false) == isOn, "\(finding)")
            }
        }
    }

    @Test
    func serialDevices() async throws {
        try await withFolder { folder in
            let none = SerialCheck.run(in: folder)
            #expect(none.map(\.state) == [.skipped] && none[0].text.hasPrefix("there are none"))
            // A name without a device cannot be used, whoever the user is.
            for (name, device) in [("ttyUSB1", "/dev/null"), ("ttyACM0", "/nowhere"), ("tty1", "/dev/null")] {
                try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: device)
            }
            let found = SerialCheck.run(in: folder)
            #expect(found.map(\.state) == [.warning, .ok])
            #expect(
                found.map(\.text) == ["\(folder)/ttyACM0 cannot be used by this user", "\(folder)/ttyUSB1 can be used"])
            #expect(found[0].advice?.contains("dialout") == true && found[1].advice == nil)
            for number in 10..<40 {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/ttyUSB\(number)", withDestinationPath: "/dev/null")
            }
            #expect(SerialCheck.run(in: folder).count == 16)
        }
    }
}
