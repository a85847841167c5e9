#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open directory whose files only its owner may access.
///
/// Files are opened relative to the directory, never through symbolic links, and checked after they were opened, so
/// that the checked file is the file that is read. They are replaced as a whole: a reader gets the old contents or the
/// new ones.
package struct ProtectedDirectory: ~Copyable {
    /// The path, for messages.
    package let path: String
    private let descriptor: FileDescriptor
    private let owner: (user: uid_t, group: gid_t)

    /// The pause between two attempts to get a lock, in microseconds.
    private static let lockInterval: useconds_t = 5000

    // MARK: Opening

    /// Opens a directory.
    ///
    /// - Returns: `nil` if the directory does not exist.
    /// - Throws: ``SecurityError/Code/insecure`` if it belongs to another user, or others may write to it. Root may use
    ///   any user's directory; the files that root writes then belong to that user.
    package static func open(_ path: String) throws(SecurityError) -> ProtectedDirectory? {
        let number = openDirectory(path)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            throw .file(path, cannot: "open the directory", errno)
        }
        return try ProtectedDirectory(path, FileDescriptor(number))
    }

    /// Creates a directory that only its owner may access, and the missing directories above it. If root creates it, it
    /// belongs to the owner of the directory above it.
    package static func create(_ path: String) throws(SecurityError) -> ProtectedDirectory {
        try makeDirectory(path)
        guard let directory = try open(path) else { throw .file(path, cannot: "open the directory", ENOENT) }
        return directory
    }

    private init(_ path: String, _ descriptor: consuming FileDescriptor) throws(SecurityError) {
        guard let status = descriptor.status() else { throw .file(path, cannot: "look at", errno) }
        guard geteuid() == status.st_uid || geteuid() == 0 else {
            throw SecurityError(
                .insecure,
                "the directory \(path) belongs to another user (\(status.st_uid)); run as that user, or choose another "
                    + "directory")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw SecurityError(
                .insecure, "other users may write to the directory \(path); check its files, then chmod 700 \(path)")
        }
        self.path = path
        self.descriptor = descriptor
        owner = (status.st_uid, status.st_gid)
    }

    private static func openDirectory(_ path: String, _ flags: CInt = 0) -> CInt {
        openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags)
    }

    private static func makeDirectory(_ path: String) throws(SecurityError) {
        let parent = parent(of: path)
        if mkdir(path, 0o700) != 0 {
            switch errno {
            case EEXIST: return
            case ENOENT where parent != path:
                try makeDirectory(parent)
                // Another process may create it at the same time.
                guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                    throw .file(path, cannot: "create the directory", errno)
                }
            default: throw .file(path, cannot: "create the directory", errno)
            }
        }
        guard geteuid() == 0 else { return }
        var above = stat()
        let number = openDirectory(path, O_NOFOLLOW)
        guard number >= 0, stat(parent, &above) == 0 else { throw .file(path, cannot: "open the directory", errno) }
        let made = FileDescriptor(number)
        guard fchown(made.number, above.st_uid, above.st_gid) == 0 else {
            throw .file(path, cannot: "give the directory to the owner of \(parent)", errno)
        }
    }

    private static func parent(of path: String) -> String {
        let path = path.drop(whileSuffix: "/")
        guard let slash = path.lastIndex(of: "/") else { return "." }
        let parent = path[..<slash].drop(whileSuffix: "/")
        return parent.isEmpty ? "/" : String(parent)
    }

    // MARK: Files

    /// The path of a file, for messages.
    package func path(of name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    /// Reads a file.
    ///
    /// - Parameter limit: the maximum size in bytes.
    /// - Returns: `nil` if the file does not exist.
    /// - Throws: ``SecurityError/Code/insecure`` if it belongs to another user, others may access it, or it is not a
    ///   regular file; ``SecurityError/Code/corrupt`` if it is empty or larger than `limit`.
    package func read(_ name: String, limit: Int) throws(SecurityError) -> [UInt8]? {
        // Not blocking, because it could be a named pipe.
        let number = openat(descriptor.number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            throw .file(path(of: name), cannot: "open", errno)
        }
        let file = FileDescriptor(number)
        try check(file, name)
        guard let bytes = file.read(limit: limit) else { throw .file(path(of: name), cannot: "read", errno) }
        guard bytes.count <= limit else {
            throw SecurityError(.corrupt, "\(path(of: name)) is larger than \(limit) bytes")
        }
        guard !bytes.isEmpty else { throw SecurityError(.corrupt, "\(path(of: name)) is empty") }
        return bytes
    }

    /// The names of all files, in any order.
    package func names() throws(SecurityError) -> [String] {
        // A new descriptor, because all readers of the directory's own one would share its position in the list.
        let number = openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0, let list = fdopendir(number) else { throw .file(path, cannot: "list", errno) }
        defer { closedir(list) }
        var names: [String] = []
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Opens a file to append to it, or creates it.
    package func append(to name: String) throws(SecurityError) -> AppendedFile {
        let number = openat(
            descriptor.number, name,
            O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
        guard number >= 0 else { throw .file(path(of: name), cannot: "write", errno) }
        let file = FileDescriptor(number)
        guard keepOwner(file) else { throw .file(path(of: name), cannot: "write", errno) }
        try check(file, name)
        guard let status = file.status() else { throw .file(path(of: name), cannot: "look at", errno) }
        return AppendedFile(path(of: name), file, byteCount: Int(status.st_size))
    }

    /// Waits until the directory's entries are on the disk.
    package func synchronise() throws(SecurityError) {
        guard descriptor.synchronise() else { throw .file(path, cannot: "write", errno) }
    }

    private func check(_ file: borrowing FileDescriptor, _ name: String) throws(SecurityError) {
        guard let status = file.status() else { throw .file(path(of: name), cannot: "look at", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SecurityError(.insecure, "\(path(of: name)) is not a regular file; remove or rename it")
        }
        guard status.st_uid == owner.user else {
            throw SecurityError(
                .insecure,
                "\(path(of: name)) belongs to user \(status.st_uid), and the directory to user \(owner.user); check "
                    + "its content, then chown it")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw SecurityError(
                .insecure, "other users may access \(path(of: name)); check it, then chmod 600 \(path(of: name))")
        }
    }

    /// Replaces a file, or creates it. Call it only while you hold the lock.
    func replace(_ name: String, with bytes: [UInt8]) throws(SecurityError) {
        let temporary = try writeTemporary(name, bytes)
        guard renameat(descriptor.number, temporary, descriptor.number, name) == 0 else {
            throw abandon(temporary, .file(path(of: name), cannot: "replace", errno))
        }
        try synchronise(name)
    }

    /// Creates a file that must not exist. Call it only while you hold the lock.
    func create(_ name: String, with bytes: [UInt8]) throws(SecurityError) {
        let temporary = try writeTemporary(name, bytes)
        // A link fails if the name exists, and makes the file appear as a whole.
        guard linkat(descriptor.number, temporary, descriptor.number, name, 0) == 0 else {
            throw abandon(temporary, .file(path(of: name), cannot: "create", errno))
        }
        unlinkat(descriptor.number, temporary, 0)
        try synchronise(name)
    }

    /// Removes a file, if it exists. Call it only while you hold the lock.
    package func remove(_ name: String) throws(SecurityError) {
        try unlink(name)
        try synchronise(name)
    }

    /// Removes a file without waiting for the disk.
    package func unlink(_ name: String) throws(SecurityError) {
        guard unlinkat(descriptor.number, name, 0) == 0 || errno == ENOENT else {
            throw .file(path(of: name), cannot: "remove", errno)
        }
    }

    /// Renames a file, and removes an existing file with the new name. Call it only while you hold the lock.
    package func rename(_ name: String, to other: String) throws(SecurityError) {
        guard renameat(descriptor.number, name, descriptor.number, other) == 0 else {
            throw .file(path(of: name), cannot: "rename", errno)
        }
    }

    private func writeTemporary(_ name: String, _ bytes: [UInt8]) throws(SecurityError) -> String {
        let temporary = ".\(name).new"
        // A killed process may have left the file. No other process writes it, because of the lock.
        unlinkat(descriptor.number, temporary, 0)
        let number = openat(
            descriptor.number, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .file(path(of: name), cannot: "write", errno) }
        let file = FileDescriptor(number)
        guard keepOwner(file), file.write(bytes) else {
            throw abandon(temporary, .file(path(of: name), cannot: "write", errno))
        }
        return temporary
    }

    private func abandon(_ temporary: String, _ error: SecurityError) -> SecurityError {
        unlinkat(descriptor.number, temporary, 0)
        return error
    }

    /// Gives a new file to the directory's owner, because root may write in place of the owner.
    private func keepOwner(_ file: borrowing FileDescriptor) -> Bool {
        guard let status = file.status() else { return false }
        return status.st_uid == owner.user && status.st_gid == owner.group
            || fchown(file.number, owner.user, owner.group) == 0
    }

    private func synchronise(_ name: String) throws(SecurityError) {
        guard descriptor.synchronise() else { throw .file(path(of: name), cannot: "write", errno) }
    }

    // MARK: The lock

    /// Takes the lock of this name, once no other process and no other thread holds it.
    ///
    /// - Throws: ``SecurityError/Code/locked`` if it is not released in time.
    package func lock(_ name: String, timeout: Duration) throws(SecurityError) -> FileLock {
        let number = openat(
            descriptor.number, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard number >= 0 else { throw .file(path(of: name), cannot: "lock", errno) }
        let file = FileDescriptor(number)
        guard keepOwner(file) else { throw .file(path(of: name), cannot: "lock", errno) }
        try check(file, name)
        let deadline = ContinuousClock.now + timeout
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .file(path(of: name), cannot: "lock", errno) }
            guard ContinuousClock.now < deadline else {
                throw SecurityError(
                    .locked, "another process has locked \(path(of: name)) for \(timeout); end it, or try again")
            }
            usleep(Self.lockInterval)
        }
        return FileLock(file)
    }
}

/// A lock that is held until ``release()``.
package struct FileLock: ~Copyable {
    private let file: FileDescriptor

    fileprivate init(_ file: consuming FileDescriptor) { self.file = file }

    /// Releases the lock. Call it in a `defer`: this also keeps the file open until then.
    package func release() { _ = flock(file.number, LOCK_UN) }
}

extension StringProtocol {
    fileprivate func drop(whileSuffix character: Character) -> SubSequence {
        var rest = self[...]
        while rest.last == character { rest = rest.dropLast() }
        return rest
    }
}
