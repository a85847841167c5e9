/// The identity of one user on one machine and the peers that it trusts, as files of a directory: `identity.pem` and
/// `trust.json`. Other users cannot read them.
///
/// ```swift
/// let state = try SecurityState()
/// configuration.security = .paired(identity: state.identity, store: state.trust)
/// ```
public struct SecurityState: Sendable {
    /// The directory.
    public let directory: String
    /// The identity of this end, as service and as client.
    public let identity: Ed25519Identity
    /// The peers that this end trusts.
    public let trust: FileTrustStore
    /// Whether this call created the identity.
    public let isNew: Bool

    private static let identityFile = IdentityFile.name

    /// Reads identity and trust, or creates both if neither exists. It blocks on the disk.
    ///
    /// - Parameters:
    ///   - directory: the directory; by default the first of these that the environment has: `$ELEMENTAL_STATE`,
    ///     `$STATE_DIRECTORY` (of systemd), `$XDG_STATE_HOME/elemental` and `$HOME/.local/state/elemental`.
    ///   - environment: for that choice; by default this process's.
    /// - Throws: ``SecurityError/Code/corrupt`` if a file is damaged or only one of them exists;
    ///   ``SecurityError/Code/insecure`` if others have access to them; ``SecurityError/Code/otherMachine`` if the
    ///   directory was copied from another machine; and the system's errors about files.
    public init(
        directory: String? = nil, environment: [String: String] = StateDirectory.environment
    ) throws(SecurityError) {
        let path = try StateDirectory.path(explicit: directory, environment: environment)
        self = try Self.open(path, machine: MachineIdentifier.current())
    }

    /// Reads identity and trust, and creates nothing.
    ///
    /// - Returns: `nil` if neither exists.
    /// - Throws: as ``init(directory:environment:)``.
    public static func existing(
        directory: String? = nil, environment: [String: String] = StateDirectory.environment
    ) throws(SecurityError) -> SecurityState? {
        let path = try StateDirectory.path(explicit: directory, environment: environment)
        return try existing(path, machine: MachineIdentifier.current())
    }

    /// Removes identity and trust. The next start creates a new identity: it trusts no peer, and no peer trusts it.
    /// This also works if the files are damaged.
    public static func reset(
        directory: String? = nil, environment: [String: String] = StateDirectory.environment
    ) throws(SecurityError) {
        let path = try StateDirectory.path(explicit: directory, environment: environment)
        guard let opened = try ProtectedDirectory.open(path) else { return }
        let lock = try opened.lock(FileTrustStore.lock, timeout: FileTrustStore.defaultLockTimeout)
        defer { lock.release() }
        // The trust is emptied first: an interruption at any point leaves a valid state.
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
        // Another process may have created it meanwhile.
        if let state = try read(directory, machine: machine) { return state }
        let identity = Ed25519Identity()
        // The trust first: an identity without trust would be corrupt.
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
        // The identity first, because it is created last. It is read again below, because both may have been created in
        // between.
        var file = try directory.read(identityFile, limit: PEM.maximumByteCount)
        let peers = try FileTrustStore.peers(directory)
        if file == nil { file = try directory.read(identityFile, limit: PEM.maximumByteCount) }
        guard var text = file else {
            // An interrupted start, or a reset, leaves this state.
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
                "\(directory.path(of: identityFile)) was made on another machine, for instance because this "
                    + "storage is a copy; two machines must not have the same identity. \"elemental trust reset\" makes "
                    + "a new one; then pair everything again. If the other machine is no longer used, delete the "
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
            "\(directory.path(of: missing)) is missing, but \(present) exists. Restore it from a backup, or start over "
                + "with \"elemental trust reset\"")
    }
}
