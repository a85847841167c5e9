import Foundation
import TestSupport
import Testing

@testable import ElementalSecurity

struct MachineIdentifierTests {
    private static let id = "3d1219c7c4c5404aaa1f6d2a48adfda4"

    /// What a system with these files is recognised by.
    private func identifier(_ files: [String: String]) async throws -> [UInt8]? {
        try await withFolder { root in
            for (path, text) in files {
                let file = URL(filePath: root + path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: file)
            }
            return MachineIdentifier.current(root: root)
        }
    }

    @Test
    func aMachineIsRecognised() async throws {
        let first = try await identifier(["/etc/machine-id": Self.id + "\n"])
        #expect(first?.count == 32)
        #expect(try await identifier(["/etc/machine-id": Self.id]) == first)
        // The same, where D-Bus keeps it.
        #expect(try await identifier(["/var/lib/dbus/machine-id": Self.id]) == first)
    }

    @Test
    func anotherInstallationOrAnotherBoardIsAnotherMachine() async throws {
        let board = "/proc/device-tree/serial-number"
        let machines = [
            try await identifier(["/etc/machine-id": Self.id]),
            try await identifier(["/etc/machine-id": String(Self.id.reversed())]),
            try await identifier(["/etc/machine-id": Self.id, board: "10000000a1b2c3d4\0"]),
            try await identifier(["/etc/machine-id": Self.id, board: "10000000a1b2c3d5\0"]),
            try await identifier([board: "10000000a1b2c3d4\0"]),
        ]
        #expect(!machines.contains(nil))
        #expect(Set(machines).count == machines.count)
    }

    /// The last is what an image has before its first start.
    @Test(arguments: [[:], ["/etc/machine-id": ""], ["/etc/machine-id": "uninitialized\n"]])
    func aSystemThatSaysNothingHasNone(_ files: [String: String]) async throws {
        #expect(try await identifier(files) == nil)
    }

    /// The ID itself is not to be published.
    @Test
    func theIDIsNotInIt() async throws {
        let identifier = try await identifier(["/etc/machine-id": Self.id])
        #expect(Hexadecimal.text(identifier ?? []).contains(Self.id.prefix(8)) == false)
    }
}
