import Support

/// An error of identities and trust stores: a code for the program, and a message that names the file or peer and says
/// what to do. It never contains a key, a code or a secret.
public struct SecurityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error. More may be added, so a `switch` over it needs a `default`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        enum Value: CaseIterable {
            case missing, replaced, corrupt, insecure, otherMachine, locked
            case permissionDenied, readOnly, diskFull, inputOutput, noStateDirectory
            case invalidCertificate, unsupportedKey
            case alreadyPinned, ownKey, unknownPeer, invalidPeer, full
        }
        let value: Value

        /// The kind as one word, such as `corrupt`.
        public var description: String { "\(value)" }

        /// An expected file does not exist.
        public static let missing = Code(value: .missing)
        /// A file contains another identity than the one that was read from it.
        public static let replaced = Code(value: .replaced)
        /// A file's contents are damaged.
        public static let corrupt = Code(value: .corrupt)
        /// A file or directory belongs to another user, is a symbolic link, or gives others access.
        public static let insecure = Code(value: .insecure)
        /// The identity was made on another machine.
        public static let otherMachine = Code(value: .otherMachine)
        /// Another process holds the store's lock.
        public static let locked = Code(value: .locked)
        /// The system denied access to a file or directory.
        public static let permissionDenied = Code(value: .permissionDenied)
        /// The file system is mounted read-only.
        public static let readOnly = Code(value: .readOnly)
        /// No space is left, or the quota is used up.
        public static let diskFull = Code(value: .diskFull)
        /// The system reported another error about a file.
        public static let inputOutput = Code(value: .inputOutput)
        /// The environment does not say where identity and trust are kept.
        public static let noStateDirectory = Code(value: .noStateDirectory)
        /// A certificate is not X.509 in DER.
        public static let invalidCertificate = Code(value: .invalidCertificate)
        /// A key is neither Ed25519 nor P-256.
        public static let unsupportedKey = Code(value: .unsupportedKey)
        /// The name is pinned to another key.
        public static let alreadyPinned = Code(value: .alreadyPinned)
        /// The key is this end's own.
        public static let ownKey = Code(value: .ownKey)
        /// No peer has this name or fingerprint.
        public static let unknownPeer = Code(value: .unknownPeer)
        /// A peer cannot be stored, for instance because its name is empty.
        public static let invalidPeer = Code(value: .invalidPeer)
        /// The store has its maximum number of peers, or a directory its maximum number of services' histories.
        public static let full = Code(value: .full)
    }

    /// The kind of error.
    public let code: Code
    /// What happened and what to do, for the user.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message.printable }
}

extension SecurityError {
    static let ownKey = SecurityError(
        .ownKey, "this is this end's own key, which needs no pairing")

    static func full(_ list: String) -> SecurityError {
        SecurityError(
            .full,
            "\(TrustedPeers.maximumCount) \(list) are trusted already, the maximum; revoke some "
                + "(elemental trust revoke)")
    }
}
