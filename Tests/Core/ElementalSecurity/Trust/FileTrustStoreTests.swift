import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalSecurity

struct FileTrustStoreTests {
    private static let own = Fingerprint.sample(0)

    /// The store of a new state.
    private func withStore(_ body: (_ directory: String, FileTrustStore) async throws -> Void) async throws {
        try await withFolder { parent in
            let state = try SecurityState.open("\(parent)/state", machine: nil)
            try await body(state.directory, state.trust)
        }
    }

    private func add(_ number: Int, to store: some TrustStore) throws {
        try store.update { try $0.pin(TrustedClient.sample(number), own: Self.own) }
    }

    private func files(_ directory: String) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: directory))
    }

    // MARK: Changing

    @Test
    func changesAreSeenByAllWhoUseTheDirectory() async throws {
        try await withStore { directory, store in
            try add(1, to: store)
            let other = FileTrustStore(directory: directory)
            #expect(try other.read().clients == [.sample(1)])
            let revoked = try other.update { try $0.revoke("client 1") }
            #expect(revoked.clients == [.sample(1)])
            #expect(try store.read() == TrustedPeers())
        }
    }

    @Test
    func aChangeThatThrowsChangesNothing() async throws {
        try await withStore { directory, store in
            try add(1, to: store)
            let before = try contents("\(directory)/trust.json")
            struct Failure: Error {}
            #expect(throws: Failure.self) {
                try store.update { peers in
                    peers.clients = []
                    throw Failure()
                }
            }
            // What is not valid is not written either.
            let error = securityError { try store.update { $0.clients.append(.sample(2, name: "")) } }
            #expect(error?.code == .invalidPeer)
            #expect(try contents("\(directory)/trust.json") == before)
            #expect(try files(directory) == ["identity.pem", "trust.json", "trust.lock"])
            // The lock was released.
            try add(2, to: store)
        }
    }

    /// Every change of each is there at the end, and a reader sees whole files all the time.
    @Test
    func manyWritersLoseNothing() async throws {
        let count = Depth.isAll ? 20 : 6
        try await withStore { directory, store in
            let isDone = Locked(false)
            async let read: Void = onThread {
                var count = 0
                while !isDone.withLock({ $0 }) {
                    let now = try store.read().clients.count
                    #expect(now >= count)
                    count = now
                }
            }
            defer { isDone.withLock { $0 = true } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        try await onThread {
                            let store = FileTrustStore(directory: directory, lockTimeout: .seconds(300))
                            for number in 1...count {
                                try store.update {
                                    try $0.pin(TrustedClient.sample(writer * 100 + number), own: Self.own)
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            isDone.withLock { $0 = true }
            try await read
            #expect(try store.read().clients.count == 8 * count)
        }
    }

    @Test
    func anotherProcessIsWaitedForAndNotForever() async throws {
        try await withStore { directory, store in
            let held = ["\(directory)/trust.lock", "sh", "-c", "echo held; read line"]
            try await ChildProcess.with("flock", held) { process in
                try await process.nextLine(beginningWith: "held")
                let impatient = FileTrustStore(directory: directory, lockTimeout: .milliseconds(20))
                let error = securityError { try add(1, to: impatient) }
                #expect(error?.code == .locked)
                #expect(error?.message.contains("\(directory)/trust.lock") == true)
                // Reading waits for nobody.
                #expect(try impatient.read() == TrustedPeers())
                async let added: Void = onThread {
                    try FileTrustStore(directory: directory, lockTimeout: .seconds(300))
                        .update { try $0.pin(TrustedClient.sample(1), own: Self.own) }
                }
                try process.writeLine("release")
                try await added
                #expect(try store.read().clients == [.sample(1)])
            }
        }
    }

    /// A process that was killed while it wrote leaves a part of a file; somebody else may have put a link there.
    @Test
    func whatAKilledWriterLeftIsNotInTheWay() async throws {
        try await withStore { directory, store in
            try Data("half".utf8).write(to: URL(filePath: "\(directory)/.trust.json.new"))
            try add(1, to: store)
            try Data("mine".utf8).write(to: URL(filePath: "\(directory)/../other"))
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory)/.trust.json.new", withDestinationPath: "\(directory)/../other")
            try add(2, to: store)
            #expect(try contents("\(directory)/../other") == Array("mine".utf8))
            #expect(try store.read().clients.count == 2)
            #expect(try files(directory) == ["identity.pem", "trust.json", "trust.lock"])
        }
    }

    // MARK: Damage

    @Test
    func aVanishedStoreTrustsNobodyAndIsNotMadeAnew() async throws {
        try await withStore { directory, store in
            try add(1, to: store)
            let revision = store.revision()
            try FileManager.default.removeItem(atPath: "\(directory)/trust.json")
            #expect(store.revision() != revision)
            for error in [securityError { _ = try store.read() }, securityError { try add(2, to: store) }] {
                #expect(error?.code == .missing)
                #expect(error?.message.contains("\(directory)/trust.json") == true)
            }
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/trust.json"))
            try FileManager.default.removeItem(atPath: directory)
            #expect(securityError { _ = try store.read() }?.code == .missing)
            #expect(securityError { try add(2, to: store) }?.code == .missing)
        }
    }

    @Test(arguments: ["", "garbage", "{\"version\":1}"])
    func aDamagedStoreIsNeitherReadNorOverwritten(_ text: String) async throws {
        try await withStore { directory, store in
            let path = "\(directory)/trust.json"
            try Data(text.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            for error in [securityError { _ = try store.read() }, securityError { try add(1, to: store) }] {
                #expect(error?.code == .corrupt)
                #expect(error?.message.contains(path) == true)
            }
            #expect(try contents(path) == Array(text.utf8))
        }
    }

    // MARK: Revisions

    @Test
    func everyChangeIsANewRevision() async throws {
        try await withStore { directory, store in
            let first = store.revision()
            _ = try store.read()
            #expect(store.revision() == first)
            try store.update { _ in }
            #expect(store.revision() == first, "nothing was changed, so nothing was written")
            var revisions: Set<TrustRevision> = [first]
            for number in 1...20 {
                // All of the same length.
                try store.update { $0.clients = [.sample(number + 10)] }
                revisions.insert(store.revision())
            }
            #expect(revisions.count == 21)
            // Also what others may read now, which this store then refuses.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(directory)/trust.json")
            #expect(revisions.insert(store.revision()).inserted)
        }
    }

    @Test
    func aStoreInMemoryBehavesTheSame() throws {
        let store = InMemoryTrustStore(TrustedPeers(clients: [.sample(1)]))
        let first = store.revision()
        try store.update { _ in }
        #expect(store.revision() == first)
        try add(2, to: store)
        #expect(store.revision() != first)
        #expect(store.read().clients == [.sample(1), .sample(2)])
        let second = store.revision()
        #expect(securityError { try store.update { $0.clients.append(.sample(3, name: "")) } }?.code == .invalidPeer)
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try store.update { peers in
                // The change can look at the store.
                #expect(store.read() == peers)
                peers.clients = []
                throw Failure()
            }
        }
        #expect(store.revision() == second)
        #expect(store.read().clients.count == 2)
    }

    // MARK: The file system

    @Test(.enabled(if: SmallDisk.isAvailable, "file systems cannot be mounted here (\"unshare --mount\" fails)"))
    func aFullDiskChangesNothing() async throws {
        try await SmallDisk.with { disk in
            let state = try SecurityState.open("\(disk.path)/state", machine: nil)
            try add(1, to: state.trust)
            try await disk.run("head -c 1M /dev/zero > fill")
            let failure = securityError { try state.trust.update { $0.clients += (10..<400).map { .sample($0) } } }
            #expect(failure?.code == .diskFull)
            #expect(failure?.message.contains("\(state.directory)/trust.json") == true)
            #expect(try state.trust.read().clients == [.sample(1)])
            #expect(try files(state.directory) == ["identity.pem", "trust.json", "trust.lock"])
            // Nor is half an identity made.
            #expect(securityError { _ = try SecurityState.open("\(disk.path)/other", machine: nil) }?.code == .diskFull)
            try await disk.run("rm fill")
            try add(2, to: state.trust)
            #expect(try SecurityState.open("\(disk.path)/other", machine: nil).isNew)
        }
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "file systems cannot be mounted here (\"unshare --mount\" fails)"))
    func aReadOnlyDiskIsReadAndNotWritten() async throws {
        try await SmallDisk.with { disk in
            let state = try SecurityState.open("\(disk.path)/state", machine: nil)
            try add(1, to: state.trust)
            try await disk.run("mount -o remount,ro .")
            #expect(
                try SecurityState.open(state.directory, machine: nil).identity.fingerprint == state.identity.fingerprint
            )
            #expect(try state.trust.read().clients == [.sample(1)])
            let failure = securityError { try add(2, to: state.trust) }
            #expect(failure?.code == .readOnly)
            #expect(failure?.message.contains(state.directory) == true)
            #expect(securityError { _ = try SecurityState.open("\(disk.path)/other", machine: nil) }?.code == .readOnly)
            try await disk.run("mount -o remount,rw .")
            try add(2, to: state.trust)
        }
    }

    @Test
    func withoutPermissionTheErrorNamesTheFile() async throws {
        try await withStore { directory, store in
            try FileManager.default.removeItem(atPath: "\(directory)/trust.lock")
            for path in [directory, "\(directory)/.."] {
                try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: path)
            }
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory) }
            let failure = try await onThread {
                try Privileges.drop()
                return securityError { try self.add(1, to: store) }
            }
            #expect(failure?.code == .permissionDenied)
            #expect(failure?.message.contains("\(directory)/trust.lock") == true)
        }
    }
}
