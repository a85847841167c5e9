/// The identity of one user on one machine, and the peers that it trusts, as files of a directory: `identity.pem` and
/// `trust.json`, which nobody else may read.
///
/// ```swift
/// let state = try SecurityState()
/// configuration.security = .paired(identity: state.identity, store: state.trust)
/// ```
public struct SecurityState: Sendable {
    /// The directory.
    public let directory: String
    /// Who this end is, as service and as client.
    public let identity: Ed25519Identity
    /// Whom it trusts.
    public let trust: FileTrustStore
    /// Whether the identity was made by this call.
    public let isNew: Bool

    private static let identityFile = IdentityFile.name

    /// Reads identity and trust, or creates both if neither is there. It waits for the disk.
    ///
    /// - Parameters:
    ///   - directory: the directory; by default the first that the environment has of `$ELEMENTAL_STATE`,
    ///     `$STATE_DIRECTORY` (of systemd), `$XDG_STATE_HOME/elemental` and `$HOME/.local/state/elemental`.
    ///   - environment: for that choice; by default this process's.
    /// - Throws: ``SecurityError/Code/corrupt`` if a file is damaged or only one of them is there;
    ///   ``SecurityError/Code/insecure`` if others have access to them; ``SecurityError/Code/otherMachine`` if the directory
    ///   was copied from another machine; and what the system says about files.
    public init(
        directory: String? = nil, environment: [String: String] = StateDirectory.environment
    ) throws(SecurityError) {
        let path = try StateDirectory.path(explicit: directory, environment: environment)
        self = try Self.open(path, machine: MachineIdentifier.current())
    }

    /// Reads identity and trust.
    ///
    /// - Returns: `nil` if there is none; nothing is created.
    /// - Throws: as ``init(directory:environment:)``.
    public static func existing(
        directory: String? = nil, environment: [String: String] = StateDirectory.environment
    ) throws(SecurityError) -> SecurityState? {
        let path = try StateDirectory.path(explicit: directory, environment: environment)
        return try existing(path, machine: MachineIdentifier.current())
    }

    /// Removes identity and trust, so that the next start makes a new identity that trusts nobody and that nobody trusts.
    /// It also works if they are damaged.
    public static func reset(
        directory: String? = nil, environment: [String: String] = StateDirectory.environment
    ) throws(SecurityError) {
        let path = try StateDirectory.path(explicit: directory, environment: environment)
        guard let opened = try ProtectedDirectory.open(path) else { return }
        let lock = try opened.lock(FileTrustStore.lock, timeout: FileTrustStore.defaultLockTimeout)
        defer { lock.release() }
        // Trust in nobody first: whenever this is interrupted, what is left is a valid state.
        try opened.replace(FileTrustStore.file, with: try TrustFile.text(TrustedPeers()))
        try opened.remove(identityFile)
        try opened.remove(FileTrustStore.file)
    }

    // MARK: Opening

    static func open(_ path: String, machine: [UInt8]?) throws(SecurityError) -> SecurityState {
        if let state = try existing(path, machine: machine) { return state }
        let directory = try ProtectedDirectory.create(path)
        let lock = try directory.lock(FileTrustStore.lock, timeout: FileTrustStore.defaultLockTimeout)
        defer { lock.release() }
        // Another process may have been faster.
        if let state = try read(directory, machine: machine) { return state }
        let identity = Ed25519Identity()
        // In this order: an identity without trust would be corrupt.
        try directory.replace(FileTrustStore.file, with: try TrustFile.text(TrustedPeers()))
        var text = Array(identity.text(machine: machine).utf8)
        defer { Primitives.erase(&text) }
        try directory.create(identityFile, with: text)
        return SecurityState(
            directory: path, identity: identity.kept(in: IdentityFile(directory: path)),
            trust: FileTrustStore(directory: path), isNew: true)
    }

    static func existing(_ path: String, machine: [UInt8]?) throws(SecurityError) -> SecurityState? {
        guard let directory = try ProtectedDirectory.open(path) else { return nil }
        return try read(directory, machine: machine)
    }

    private init(directory: String, identity: Ed25519Identity, trust: FileTrustStore, isNew: Bool) {
        self.directory = directory
        self.identity = identity
        self.trust = trust
        self.isNew = isNew
    }

    private static func read(
        _ directory: borrowing ProtectedDirectory, machine: [UInt8]?
    ) throws(SecurityError) -> SecurityState? {
        let kept = IdentityFile(directory: directory.path)
        // The identity first: it is created after the other. Again, because it may have been created in between.
        var file = try directory.read(identityFile, limit: PEM.maximumByteCount)
        let peers = try FileTrustStore.peers(directory)
        if file == nil { file = try directory.read(identityFile, limit: PEM.maximumByteCount) }
        guard var text = file else {
            // Left by a start that was interrupted, or by a reset.
            if peers == nil || peers == TrustedPeers() { return nil }
            throw incomplete(directory, missing: identityFile, present: FileTrustStore.file)
        }
        defer { Primitives.erase(&text) }
        guard peers != nil else {
            throw incomplete(directory, missing: FileTrustStore.file, present: identityFile)
        }
        let (identity, recorded) = try IdentityFile.parse(directory.path(of: identityFile), text)
        if let recorded, machine.map({ !Primitives.isEqual($0, recorded) }) ?? true {
            throw SecurityError(
                .otherMachine,
                "\(directory.path(of: identityFile)) was made on another machine, for instance on the one that this "
                    + "storage is a copy of; two machines must not have the same identity. \"elemental trust reset\" makes "
                    + "a new one, and everything has to be paired again. If the other machine is gone for good, delete the "
                    + "line \"Machine:\" from the file instead")
        }
        return SecurityState(
            directory: directory.path, identity: identity.kept(in: kept),
            trust: FileTrustStore(directory: directory.path), isNew: false)
    }

    private static func incomplete(
        _ directory: borrowing ProtectedDirectory, missing: String, present: String
    ) -> SecurityError {
        SecurityError(
            .corrupt,
            "\(directory.path(of: missing)) is missing, and \(present) is there. Restore it from a backup, or begin anew "
                + "with \"elemental trust reset\"")
    }
}
