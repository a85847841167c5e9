import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalSecurity

struct SecurityStateTests {
    private static let machine = [UInt8](repeating: 7, count: 32)

    /// A state in a directory that is not there yet.
    private func withState(_ body: (_ directory: String, SecurityState) async throws -> Void) async throws {
        try await withFolder { parent in
            let directory = "\(parent)/state/elemental"
            try await body(directory, try SecurityState.open(directory, machine: Self.machine))
        }
    }

    private func error(_ directory: String, machine: [UInt8]? = machine) -> SecurityError? {
        securityError { _ = try SecurityState.open(directory, machine: machine) }
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test
    func theFirstStartMakesIdentityAndTrust() async throws {
        try await withState { directory, state in
            #expect(state.isNew)
            #expect(state.directory == directory)
            #expect(try state.trust.read() == TrustedPeers())
            #expect(try mode(directory) == 0o700)
            #expect(try mode("\(directory)/..") == 0o700)
            for file in ["identity.pem", "trust.json", "trust.lock"] {
                #expect(try mode("\(directory)/\(file)") == 0o600)
            }
            #expect(
                try Set(FileManager.default.contentsOfDirectory(atPath: directory)) == [
                    "identity.pem", "trust.json", "trust.lock",
                ])
            let again = try SecurityState.open(directory, machine: Self.machine)
            #expect(!again.isNew)
            #expect(again.identity.fingerprint == state.identity.fingerprint)
            #expect(again.identity.certificate == state.identity.certificate)
            #expect(again.identity.pem() == state.identity.pem())
        }
    }

    @Test
    func whereNothingIsNothingIsMade() async throws {
        try await withFolder { parent in
            #expect(try SecurityState.existing(directory: "\(parent)/state") == nil)
            #expect(!FileManager.default.fileExists(atPath: "\(parent)/state"))
            #expect(try SecurityState.existing(directory: parent) == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: parent).isEmpty)
            let made = try SecurityState(directory: "\(parent)/state")
            let found = try SecurityState.existing(environment: ["ELEMENTAL_STATE": "\(parent)/state"])
            #expect(found?.identity.fingerprint == made.identity.fingerprint)
            #expect(found?.isNew == false)
        }
    }

    @Test
    func startsAtTheSameTimeHaveOneIdentity() async throws {
        try await withFolder { parent in
            let states = try await withThrowingTaskGroup(of: SecurityState.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        try await onThread { try SecurityState.open("\(parent)/a/b/c", machine: Self.machine) }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(states.map(\.identity.fingerprint)).count == 1)
            #expect(states.filter(\.isNew).count == 1)
        }
    }

    // MARK: Only one of two files

    @Test
    func anIdentityWithoutTrustIsCorrupt() async throws {
        try await withState { directory, _ in
            try FileManager.default.removeItem(atPath: "\(directory)/trust.json")
            let error = error(directory)
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("\(directory)/trust.json is missing") == true)
            #expect(error?.message.contains("elemental trust reset") == true)
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/trust.json"))
        }
    }

    /// A start that was interrupted leaves trust in nobody, and the next one goes on. Trust in somebody is not taken over
    /// by a new identity.
    @Test
    func trustWithoutAnIdentityIsCorruptUnlessItIsEmpty() async throws {
        try await withState { directory, state in
            try FileManager.default.removeItem(atPath: "\(directory)/identity.pem")
            let next = try SecurityState.open(directory, machine: Self.machine)
            #expect(next.isNew && next.identity.fingerprint != state.identity.fingerprint)
            try next.trust.update { try $0.pin(TrustedClient.sample(1), own: next.identity.fingerprint) }
            try FileManager.default.removeItem(atPath: "\(directory)/identity.pem")
            #expect(error(directory)?.code == .corrupt)
            #expect(error(directory)?.message.contains("identity.pem is missing") == true)
        }
    }

    // MARK: Damaged files

    @Test(arguments: ["identity.pem", "trust.json"], ["", "garbage\n", "\u{0}\u{1}", "{}", "half"])
    func aDamagedFileIsNamedAndNothingIsChanged(_ file: String, _ text: String) async throws {
        try await withState { directory, _ in
            let path = "\(directory)/\(file)"
            let before = try contents(path)
            let damaged = text == "half" ? Array(before.prefix(before.count / 2)) : Array(text.utf8)
            try overwrite(path, damaged)
            let error = error(directory)
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains(path) == true)
            #expect(try contents(path) == damaged)
        }
    }

    @Test(arguments: ["identity.pem", "trust.json"])
    func aLargeFileIsNotRead(_ file: String) async throws {
        try await withState { directory, _ in
            try overwrite("\(directory)/\(file)", [UInt8](repeating: UInt8(ascii: " "), count: 2 << 20))
            #expect(error(directory)?.code == .corrupt)
        }
    }

    // MARK: Others' access

    @Test(arguments: ["identity.pem", "trust.json", "trust.lock"], [0o644, 0o640, 0o604, 0o620, 0o602, 0o610])
    func aFileThatOthersCanReachIsRefused(_ file: String, _ mode: Int) async throws {
        try await withState { directory, state in
            try setMode("\(directory)/\(file)", mode)
            let error: SecurityError? =
                file == "trust.lock"
                ? #expect(throws: SecurityError.self) { try state.trust.update { $0.clients = [] } } : error(directory)
            #expect(error?.code == .insecure)
            #expect(error?.message.contains("chmod 600 \(directory)/\(file)") == true)
        }
    }

    @Test(arguments: [0o770, 0o777, 0o702])
    func aDirectoryThatOthersCanWriteIsRefused(_ mode: Int) async throws {
        try await withState { directory, state in
            try setMode(directory, mode)
            #expect(error(directory)?.code == .insecure)
            #expect(error(directory)?.message.contains("chmod 700 \(directory)") == true)
            #expect(throws: SecurityError.self) { try state.trust.read() }
            // As systemd makes it.
            try setMode(directory, 0o755)
            #expect(error(directory) == nil)
        }
    }

    @Test(arguments: ["identity.pem", "trust.json", "trust.lock"])
    func aSymbolicLinkIsRefused(_ file: String) async throws {
        try await withState { directory, state in
            let path = "\(directory)/\(file)"
            try FileManager.default.moveItem(atPath: path, toPath: "\(directory)/../other")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(directory)/../other")
            let error: SecurityError? =
                file == "trust.lock"
                ? #expect(throws: SecurityError.self) { try state.trust.update { $0.clients = [] } } : error(directory)
            #expect(error?.code == .insecure)
            #expect(error?.message.contains("\(path): it is a symbolic link") == true)
        }
    }

    /// With systemd's DynamicUser= the directory itself is one.
    @Test
    func aSymbolicLinkToTheDirectoryIsFollowed() async throws {
        try await withState { directory, state in
            try FileManager.default.createSymbolicLink(atPath: "\(directory)-link", withDestinationPath: directory)
            let linked = try SecurityState.open("\(directory)-link", machine: Self.machine)
            #expect(linked.identity.fingerprint == state.identity.fingerprint)
        }
    }

    @Test
    func aNamedPipeOrADirectoryIsNoFile() async throws {
        try await withState { directory, _ in
            let path = "\(directory)/identity.pem"
            try FileManager.default.removeItem(atPath: path)
            mkfifo(path, 0o600)
            #expect(error(directory)?.code == .insecure)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            #expect(error(directory)?.code == .insecure)
        }
    }

    @Test
    func aFileInTheDirectorysPlaceIsRefused() async throws {
        try await withFolder { parent in
            try Data().write(to: URL(filePath: "\(parent)/file"))
            #expect(error("\(parent)/file") != nil)
            #expect(error("\(parent)/file/state") != nil)
        }
    }

    // MARK: Another machine

    @Test
    func aCopiedCardIsRefusedWithAdvice() async throws {
        try await withState { directory, state in
            for machine in [[UInt8](repeating: 8, count: 32), nil] {
                let error = error(directory, machine: machine)
                #expect(error?.code == .otherMachine)
                #expect(error?.message.contains("\(directory)/identity.pem") == true)
                #expect(error?.message.contains("elemental trust reset") == true)
            }
            // The advice for a card whose old machine is gone.
            let path = "\(directory)/identity.pem"
            let text = String(decoding: try contents(path), as: UTF8.self)
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("Machine: ") }
            #expect(lines.count == text.split(separator: "\n").count - 1)
            try overwrite(path, Array((lines.joined(separator: "\n") + "\n").utf8))
            let kept = try SecurityState.open(directory, machine: [1])
            #expect(kept.identity.fingerprint == state.identity.fingerprint)
        }
    }

    @Test
    func aSystemWithoutAnIDWorks() async throws {
        try await withFolder { parent in
            let made = try SecurityState.open("\(parent)/state", machine: nil)
            for machine in [nil, Self.machine] {
                let again = try SecurityState.open("\(parent)/state", machine: machine)
                #expect(again.identity.fingerprint == made.identity.fingerprint)
            }
        }
    }

    // MARK: Beginning anew

    @Test(arguments: [nil, "identity.pem", "trust.json"] as [String?])
    func aResetMakesANewIdentityWhateverIsDamaged(_ damaged: String?) async throws {
        try await withState { directory, state in
            try state.trust.update { try $0.pin(TrustedClient.sample(1), own: state.identity.fingerprint) }
            if let damaged { try overwrite("\(directory)/\(damaged)", [1, 2, 3]) }
            try SecurityState.reset(directory: directory)
            #expect(try SecurityState.existing(directory: directory) == nil)
            // A program that still runs trusts nobody.
            let error = #expect(throws: SecurityError.self) { try state.trust.read() }
            #expect(error?.code == .missing)
            let next = try SecurityState.open(directory, machine: Self.machine)
            #expect(next.isNew && next.identity.fingerprint != state.identity.fingerprint)
            #expect(try next.trust.read() == TrustedPeers())
        }
    }

    // MARK: Owners

    /// Root may use a user's directory; what it writes belongs to that user.
    @Test(.enabled(if: geteuid() == 0, "only root can write for others"))
    func rootKeepsTheOwnersOfADirectory() async throws {
        try await withFolder { parent in
            let home = "\(parent)/home"
            #expect(mkdir(home, 0o700) == 0 && chown(home, 1234, 2345) == 0)
            let state = try SecurityState.open("\(home)/state/elemental", machine: nil)
            try state.trust.update { try $0.pin(TrustedClient.sample(1), own: state.identity.fingerprint) }
            for path in ["", "/elemental", "/elemental/identity.pem", "/elemental/trust.json", "/elemental/trust.lock"]
            {
                var status = stat()
                #expect(stat("\(home)/state\(path)", &status) == 0)
                #expect(status.st_uid == 1234 && status.st_gid == 2345, "\(path)")
            }
            // A file that the directory's owner did not write.
            #expect(chown("\(home)/state/elemental/trust.json", 1235, 2345) == 0)
            #expect(error("\(home)/state/elemental", machine: nil)?.code == .insecure)
            #expect(throws: SecurityError.self) { try state.trust.read() }
        }
    }
}

private func setMode(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

/// Writes into a file that is there, which keeps its mode.
private func overwrite(_ path: String, _ bytes: [UInt8]) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: bytes)
}
