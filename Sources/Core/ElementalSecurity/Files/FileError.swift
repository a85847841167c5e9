#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension SecurityError {
    /// The error for a failed action of the system on a file, with advice.
    ///
    /// - Parameters:
    ///   - action: the action that failed, such as "read" or "write".
    ///   - error: `errno`.
    static func file(_ path: String, cannot action: String, _ error: CInt) -> SecurityError {
        let (code, advice): (Code, String) =
            switch error {
            case ENOENT, ENOTDIR: (.missing, "it, or a directory above it, does not exist; create it first")
            case EACCES, EPERM:
                (
                    .permissionDenied,
                    "permission denied; run as its owner, or choose another directory"
                )
            case EROFS: (.readOnly, "the file system is read-only; choose another directory, or make it writable")
            case ENOSPC, EDQUOT: (.diskFull, "the disk is full; nothing was changed; free some space and try again")
            case ELOOP: (.insecure, "it is a symbolic link; replace it with the file itself")
            default: (.inputOutput, String(cString: strerror(error)))
            }
        return SecurityError(code, "cannot \(action) \(path): \(advice)")
    }

    /// The same error for a damaged file.
    func damaged(_ path: String) -> SecurityError {
        SecurityError(
            code,
            "\(path) is damaged: \(message). Restore it from a backup, or start over with \"elemental trust reset\"")
    }
}
