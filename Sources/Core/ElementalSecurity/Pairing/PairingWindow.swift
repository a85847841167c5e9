import ElementalWire

/// The time in which a service accepts pairings, shared by all of its connections: the secret, how long, for which role,
/// how many tries are left and whose turn it is.
///
/// A window for a code takes one pairing at a time and five attempts, each of which counts from the moment the service
/// answers it: whoever then disappears has tested a guess all the same. The window closes after the fifth failure, after
/// one success, and at its deadline. A long secret cannot be guessed, so its attempts are neither counted nor kept apart;
/// otherwise anyone on the network could keep the one place occupied.
package struct PairingWindow: Sendable, Undisclosed {
    /// How many attempts a window for a code allows.
    package static let attemptLimit = 5
    /// How long an attempt may take: it needs no person, who has typed the code before it began.
    package static let attemptTime = Duration.seconds(2)
    /// How long a window may be open.
    package static let durations = Duration.seconds(1) ... .seconds(3600)

    /// An attempt to pair that the window has admitted.
    package struct Attempt: Sendable, Undisclosed {
        fileprivate let number: Int
        /// Which of the service's windows admitted it.
        package let opening: Int
        /// When it has taken too long.
        package let deadline: ContinuousClock.Instant
        /// The secret that the client has to know.
        package let secret: PairingSecret
        /// The most that the window grants.
        package let role: Role
        /// Who opened the window; `nil` for the service's own host.
        package let openedBy: Fingerprint?
    }

    private struct Opening {
        let number: Int
        let secret: PairingSecret
        let role: Role
        let deadline: ContinuousClock.Instant
        let openedBy: Fingerprint?
        var attemptsLeft = PairingWindow.attemptLimit
        /// The attempt in progress, in a window for a code.
        var current: Attempt?
    }

    private var opening: Opening?
    private var openingCount = 0
    private var attemptCount = 0

    /// A closed window.
    package init() {}

    /// The number and kind of the window that is open, and when it ends.
    package var state: (number: Int, kind: PairingSecret.Kind, deadline: ContinuousClock.Instant)? {
        opening.map { ($0.number, $0.secret.kind, $0.deadline) }
    }

    /// Whether a window is open. Call ``update(at:)`` before, unless an expired window may count as open.
    package var isOpen: Bool { opening != nil }

    /// When ``update(at:)`` has something to do at the latest; `nil` while closed.
    package var nextChange: ContinuousClock.Instant? {
        opening.map { $0.current?.deadline ?? $0.deadline }
    }

    /// Opens a window; it replaces one that is open, with all that is left of it.
    ///
    /// - Parameters:
    ///   - duration: how long, 1 s to an hour; other values are limited to that.
    ///   - role: the most that it grants.
    ///   - openedBy: who asked for it over the network, `nil` for the service's own host.
    ///   - random: gives that many random bytes; passed only by tests.
    /// - Returns: the secret to show.
    package mutating func open(
        _ kind: PairingSecret.Kind, for duration: Duration, role: Role, openedBy: Fingerprint? = nil,
        at now: ContinuousClock.Instant, random: (Int) -> [UInt8] = Primitives.randomBytes
    ) -> PairingSecret {
        let secret = PairingSecret(generating: kind, random: random)
        openingCount += 1
        opening = Opening(
            number: openingCount, secret: secret, role: max(role, .observe),
            deadline: now + min(max(duration, Self.durations.lowerBound), Self.durations.upperBound),
            openedBy: openedBy)
        return secret
    }

    /// Closes the window and forgets its secret.
    package mutating func close() { opening = nil }

    /// Ends what has taken too long.
    package mutating func update(at now: ContinuousClock.Instant) {
        guard let opening else { return }
        if let current = opening.current, now >= current.deadline { end(current) }
        // An attempt that began in time may still succeed.
        if self.opening?.current == nil, now >= opening.deadline { close() }
    }

    /// Admits an attempt and counts it. Call it when the answer to the client's point is about to be sent.
    ///
    /// - Throws: ``AdmissionRefusal/Code/pairingClosed`` or ``AdmissionRefusal/Code/pairingBusy``.
    package mutating func begin(at now: ContinuousClock.Instant) throws(AdmissionRefusal) -> Attempt {
        update(at: now)
        guard let opening else { throw .pairingClosed }
        guard opening.current == nil else { throw .pairingBusy }
        attemptCount += 1
        let attempt = Attempt(
            number: attemptCount, opening: opening.number, deadline: now + Self.attemptTime, secret: opening.secret,
            role: opening.role, openedBy: opening.openedBy)
        if opening.secret.kind == .code {
            self.opening?.attemptsLeft -= 1
            self.opening?.current = attempt
        }
        return attempt
    }

    /// The client has proved that it knows the secret: closes the window.
    ///
    /// - Returns: whether the attempt was still valid. If not, the client gets nothing.
    package mutating func succeed(_ attempt: Attempt, at now: ContinuousClock.Instant) -> Bool {
        update(at: now)
        guard let opening, opening.number == attempt.opening, now < attempt.deadline,
            opening.secret.kind == .secret || opening.current?.number == attempt.number
        else { return false }
        close()
        return true
    }

    /// The attempt was not answered after all, and does not count.
    package mutating func withdraw(_ attempt: Attempt) {
        guard let opening, opening.current?.number == attempt.number else { return }
        self.opening?.attemptsLeft += 1
        end(attempt)
    }

    /// The attempt is over without success. The last one closes the window.
    package mutating func end(_ attempt: Attempt) {
        guard let opening, opening.current?.number == attempt.number else { return }
        self.opening?.current = nil
        if opening.attemptsLeft == 0 { close() }
    }
}
