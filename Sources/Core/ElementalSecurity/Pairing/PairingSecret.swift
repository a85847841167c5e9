/// The secret that a service shows and a client enters to pair: six digits, or a long secret for a label or a QR code.
///
/// Its description shows none of it. Use ``text`` only where the user is to read it.
public struct PairingSecret: Sendable, Undisclosed {
    /// The two forms of a secret.
    public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        /// Six digits for the user to type, with five attempts.
        case code = 1
        /// 160 random bits. They cannot be guessed, so attempts are not limited.
        case secret = 2

        /// The number of bytes in ``PairingSecret/bytes``.
        var byteCount: Int {
            switch self {
            case .code: 6
            case .secret: 20
            }
        }
    }

    /// The form of the secret.
    public let kind: Kind
    /// The password for CPace: the digits in ASCII, or the secret's bytes.
    package let bytes: [UInt8]

    private init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    /// Generates a secret.
    ///
    /// - Parameter random: returns this many random bytes; only tests pass it.
    package init(generating kind: Kind, random: (Int) -> [UInt8] = Primitives.randomBytes) {
        switch kind {
        case .code: self.init(.code, Self.digits(random))
        case .secret: self.init(.secret, random(kind.byteCount))
        }
    }

    /// Uniformly distributed digits: a number beyond the last multiple of a million is drawn again.
    private static func digits(_ random: (Int) -> [UInt8]) -> [UInt8] {
        let limit = UInt32.max - UInt32.max % 1_000_000
        while true {
            let number = random(4).reduce(0) { $0 << 8 | UInt32($1) }
            guard number < limit else { continue }
            return Array(String(1_000_000 + number % 1_000_000).utf8.dropFirst())
        }
    }

    /// Parses a code of six digits. Spaces and hyphens between them are ignored.
    public init?(code: String) {
        let digits = code.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "-") }
        self.init(kind: .code, bytes: digits)
    }

    /// Parses a long secret in the form of ``text``, with or without groups, in upper or lower case.
    public init?(secret: String) {
        guard let bytes = Base32.decode(secret) else { return nil }
        self.init(kind: .secret, bytes: bytes)
    }

    /// Creates a secret from bytes received over TLS; `nil` if they are not a secret of this kind.
    package init?(kind: Kind, bytes: [UInt8]) {
        guard bytes.count == kind.byteCount, kind == .secret || bytes.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        self.init(kind, bytes)
    }

    /// The text that the user reads and types: six digits, or base32 in groups of four.
    public var text: String {
        switch kind {
        case .code: String(decoding: bytes, as: UTF8.self)
        case .secret: Base32.grouped(bytes)
        }
    }
}

extension PairingSecret: Equatable {
    /// Compares in a time that depends only on the lengths.
    public static func == (a: PairingSecret, b: PairingSecret) -> Bool {
        a.kind == b.kind && Primitives.isEqual(a.bytes, b.bytes)
    }
}
