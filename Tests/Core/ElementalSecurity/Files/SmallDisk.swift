import Foundation
import Support
import TestSupport

/// A file system of 128 KiB that only a shell sees, in a mount namespace of its own, and that is gone with it.
struct SmallDisk {
    /// Where it is for this process.
    let path: String
    private let shell: ChildProcess

    private static var arguments: [String] { geteuid() == 0 ? ["--mount"] : ["--mount", "--map-root-user"] }

    /// Whether such namespaces can be made here.
    static let isAvailable: Bool = {
        (try? ProcessSpawn.run("unshare", arguments + ["mount", "-t", "tmpfs", "none", "/mnt"])) == .exited(0)
    }()

    static func with<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (SmallDisk) async throws -> Result
    ) async throws -> Result {
        try await withFolder { directory in
            let script = """
                mount -t tmpfs -o size=128k,mode=700 none '\(directory)' && cd '\(directory)' && echo ready
                while read -r line; do eval "$line"; echo "done"; done
                """
            return try await ChildProcess.with("unshare", arguments + ["sh", "-c", script]) { shell in
                try await shell.nextLine(beginningWith: "ready")
                return try await body(
                    SmallDisk(path: "/proc/\(shell.processID)/root\(directory)", shell: shell))
            }
        }
    }

    /// Runs a command on the disk, whether it succeeds or not.
    func run(_ command: String) async throws {
        try shell.writeLine(command)
        try await shell.nextLine(beginningWith: "done")
    }
}

/// The rights of this process's threads.
enum Privileges {
    /// Takes root's rights to all files from this thread, for good. Other users have none.
    static func drop() throws {
        guard geteuid() == 0 else { return }
        // In sys/fsuid.h, which Swift does not import. It is per thread, unlike seteuid.
        typealias SetFileUser = @convention(c) (uid_t) -> CInt
        guard let function = dlsym(nil, "setfsuid") else { throw TestSupportError("there is no setfsuid") }
        let nobody: uid_t = 65534
        _ = unsafeBitCast(function, to: SetFileUser.self)(nobody)
    }
}
