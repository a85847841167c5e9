#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The store in `trust.json` of a state directory. Several processes can use it at the same time. ``SecurityState``
/// creates it together with the identity.
public struct FileTrustStore: TrustStore {
    /// The directory.
    public let directory: String
    /// How long a change waits for changes of other processes.
    public let lockTimeout: Duration

    /// The default of ``lockTimeout``.
    public static let defaultLockTimeout = Duration.seconds(5)

    static let file = "trust.json"
    static let lock = "trust.lock"

    /// Creates the store of this directory. The directory is neither opened nor created.
    public init(directory: String, lockTimeout: Duration = Self.defaultLockTimeout) {
        self.directory = directory
        self.lockTimeout = lockTimeout
    }

    /// The trusted peers.
    ///
    /// - Throws: ``SecurityError/Code/corrupt``, ``SecurityError/Code/insecure``, the system's errors about the file,
    ///   or ``SecurityError/Code/missing`` if the file has vanished. A client must not take a missing file for an empty
    ///   one: it would connect without encryption to services that it is paired with.
    public func read() throws(SecurityError) -> TrustedPeers {
        guard let opened = try ProtectedDirectory.open(directory) else { throw missing(directory) }
        guard let peers = try Self.peers(opened) else { throw missing(opened.path(of: Self.file)) }
        return peers
    }

    /// Changes the file, under a lock. The file is replaced as a whole: after a failure, a crash or a power cut it has
    /// the old contents or the new ones.
    ///
    /// - Throws: the errors of `change`; ``SecurityError``, also ``SecurityError/Code/missing`` if the file has
    ///   vanished and ``SecurityError/Code/locked`` if another process does not release the lock in time.
    public func update<Result>(_ change: (inout TrustedPeers) throws -> Result) throws -> Result {
        guard let opened = try ProtectedDirectory.open(directory) else { throw missing(directory) }
        let lock = try opened.lock(Self.lock, timeout: lockTimeout)
        defer { lock.release() }
        guard let before = try Self.peers(opened) else { throw missing(opened.path(of: Self.file)) }
        var peers = before
        let result = try change(&peers)
        if peers != before { try opened.replace(Self.file, with: try TrustFile.text(peers)) }
        return result
    }

    /// The device, inode, size and times of the file.
    public func revision() -> TrustRevision { TrustRevision(file: "\(directory)/\(Self.file)") }

    public var watchedDirectories: [String]? { [directory] }

    /// The contents of the file in an open directory, or `nil` if there is none.
    static func peers(_ directory: borrowing ProtectedDirectory) throws(SecurityError) -> TrustedPeers? {
        guard let text = try directory.read(file, limit: TrustFile.maximumByteCount) else { return nil }
        do {
            return try TrustFile.peers(text)
        } catch {
            throw error.damaged(directory.path(of: file))
        }
    }

    private func missing(_ path: String) -> SecurityError {
        SecurityError(
            .missing,
            "\(path) is missing, so no peer is trusted and nothing can be changed. Restore it from a backup, or start "
                + "over with \"elemental trust reset\"")
    }
}

extension TrustRevision {
    /// Creates a revision from the device, inode, size and times of a file.
    init(file path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            self.init(Int64(errno))
            return
        }
        #if canImport(Darwin)
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        self.init(
            Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size),
            Int64(modified.tv_sec), Int64(modified.tv_nsec), Int64(changed.tv_sec), Int64(changed.tv_nsec))
    }
}
