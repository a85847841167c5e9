/// The reason why an end does not admit its peer, or why pairing failed.
package struct AdmissionRefusal: Error, Sendable, Equatable {
    /// The kind, one byte on the wire. A later version may have more kinds; an unknown kind is treated like any other
    /// failure.
    package struct Code: Sendable, Hashable, RawRepresentable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The peer broke the protocol.
        package static let malformed = Self(rawValue: 1)
        /// The peer uses another version of the protocol.
        package static let version = Self(rawValue: 2)
        /// The client wants another service.
        package static let wrongService = Self(rawValue: 3)
        /// The service does not know the client.
        package static let notPaired = Self(rawValue: 4)
        /// The client's role does not permit it.
        package static let notAuthorised = Self(rawValue: 5)
        /// No pairing window is open.
        package static let pairingClosed = Self(rawValue: 6)
        /// Another client is pairing at this moment.
        package static let pairingBusy = Self(rawValue: 7)
        /// The code or secret is not the one that the service shows.
        package static let wrongCode = Self(rawValue: 8)
        /// An answer took too long.
        package static let timedOut = Self(rawValue: 9)
        /// Already paired: `elemental trust revoke` first.
        package static let alreadyPaired = Self(rawValue: 10)
        /// This end cannot do it now, for instance because its store cannot be written.
        package static let failed = Self(rawValue: 11)
        /// Another client of the service has this one's name.
        package static let nameTaken = Self(rawValue: 12)
    }

    /// The maximum size of a sentence, in bytes of UTF-8.
    static let maximumSentenceByteCount = 255

    package let code: Code
    /// What happened and what to do, for the user. A sentence from the peer is only as trustworthy as the peer.
    package let sentence: String

    /// - Parameter sentence: truncated to 255 bytes; control characters are removed.
    package init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = AdmissionText.fitting(sentence, byteCount: Self.maximumSentenceByteCount)
    }

    static let malformed = Self(.malformed, "the peer broke the admission protocol; update both programs")
    static let version = Self(.version, "the peer uses another version of admission; update the older program")
    package static let pairingClosed = Self(
        .pairingClosed,
        "the service is not accepting pairings now: open a window at the service (elemental open-pairing)")
    static let pairingBusy = Self(
        .pairingBusy, "another device is pairing with the service: try again in a few seconds")
    static let wrongCode = Self(
        .wrongCode, "the code is wrong, or the connection is intercepted; nothing was stored: check the code"
    )
    static let timedOut = Self(.timedOut, "the pairing took too long; try again")
    package static let trustUnavailable = Self(
        .failed, "the service cannot read its trust store, so it admits no client; its own output has the reason")
    package static let notStored = Self(
        .failed, "the service cannot store this client, so nothing was paired; its own output has the reason")
    package static let notStoredByClient = Self(.failed, "the client cannot store the service, so nothing was paired")
    package static let ownIdentity = Self(
        .alreadyPaired,
        "both ends have the same identity, so they need no pairing: connect with --security paired")
}
