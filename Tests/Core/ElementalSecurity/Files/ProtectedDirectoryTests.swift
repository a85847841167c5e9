import Foundation
import TestSupport
import Testing

@testable import ElementalSecurity

/// Files and locks of a state directory, and what becomes of the system's errors.
struct ProtectedDirectoryTests {
    private func opened(_ path: String) throws -> ProtectedDirectory {
        guard let directory = try ProtectedDirectory.open(path) else { throw TestSupportError("\(path) is not there") }
        return directory
    }

    @Test(
        arguments: [
            (ENOENT, .missing), (ENOTDIR, .missing), (EACCES, .permissionDenied), (EPERM, .permissionDenied),
            (EROFS, .readOnly), (ENOSPC, .diskFull), (EDQUOT, .diskFull), (ELOOP, .insecure), (EIO, .inputOutput),
            (EMFILE, .inputOutput),
        ] as [(CInt, SecurityError.Code)])
    func anErrorOfTheSystemHasACode(_ number: CInt, _ code: SecurityError.Code) {
        let error = SecurityError.file("/state/trust.json", cannot: "write", number)
        #expect(error.code == code)
        #expect(error.message.hasPrefix("cannot write /state/trust.json: "))
        if code == .inputOutput { #expect(error.message.hasSuffix(String(cString: strerror(number)))) }
    }

    /// A process's memory is a file whose first page cannot be read.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/mem"), "there is no /proc"))
    func aFileThatCannotBeReadIsAnError() throws {
        let error = securityError { _ = try opened("/proc/self").read("mem", limit: 1000) }
        #expect(error?.code == .inputOutput)
        #expect(error?.message == "cannot read /proc/self/mem: \(String(cString: strerror(EIO)))")
    }

    /// What each call writes of ten bytes, or minus the error.
    @Test(
        arguments: [
            ([10], true), ([3, 3, 4], true), ([Int32](repeating: 1, count: 10), true), ([-EINTR, 4, -EINTR, 6], true),
            ([0], false), ([4, 0], false), ([4, -ENOSPC], false), ([-EINTR, -EIO], false),
        ] as [([Int32], Bool)])
    func shortWritesAreContinued(_ results: [Int32], _ isWhole: Bool) {
        let bytes = [UInt8](0..<10)
        var written: [UInt8] = []
        var results = results[...]
        let isWritten = FileDescriptor.writeAll(bytes) { rest in
            let result = results.removeFirst()
            guard result >= 0 else {
                errno = -result
                return -1
            }
            written += rest.prefix(Int(result))
            return Int(result)
        }
        #expect(isWritten == isWhole && results.isEmpty)
        #expect(isWhole ? written == bytes : bytes.starts(with: written))
    }

    /// The disk takes a part of the new file.
    @Test(.enabled(if: SmallDisk.isAvailable, "file systems cannot be mounted here (\"unshare --mount\" fails)"))
    func aDiskThatFillsUpDuringAWriteKeepsTheOldFile() async throws {
        try await SmallDisk.with { disk in
            let directory = try ProtectedDirectory.create("\(disk.path)/state")
            try directory.replace("file", with: [1, 2, 3])
            try await disk.run("head -c 88K /dev/zero > fill")
            let failure = securityError { try directory.replace("file", with: [UInt8](repeating: 4, count: 100_000)) }
            #expect(failure?.code == .diskFull)
            #expect(try directory.read("file", limit: 10) == [1, 2, 3])
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(disk.path)/state") == ["file"])
            // What fits is written.
            try directory.replace("file", with: [UInt8](repeating: 5, count: 10_000))
            #expect(try directory.read("file", limit: 10_000)?.count == 10_000)
        }
    }

    @Test
    func aLockIsHeldByOneAtATime() async throws {
        try await withFolder { folder in
            let directory = try opened(folder)
            let lock = try directory.lock("lock", timeout: .zero)
            // Within this process too.
            for timeout in [Duration.zero, .milliseconds(12)] {
                let error = securityError { try opened(folder).lock("lock", timeout: timeout).release() }
                #expect(error?.code == .locked)
                #expect(
                    error?.message
                        == "another process has locked \(folder)/lock for \(timeout); end it, or try again")
            }
            // Another lock is free.
            try directory.lock("other", timeout: .zero).release()
            lock.release()
            try directory.lock("lock", timeout: .zero).release()
        }
    }
}
