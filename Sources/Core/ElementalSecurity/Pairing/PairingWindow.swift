import ElementalWire

/// The time in which a service accepts pairings, shared by all of its connections. It has the secret, the deadline, the
/// maximum role, the attempts left and the attempt in progress.
///
/// A window for a code allows one pairing at a time and five attempts. An attempt counts as soon as the service answers
/// it, because a client that then disappears has still tested a guess. The window closes after the fifth failure, after
/// one success, and at its deadline. A long secret cannot be guessed, so its attempts are not counted and run in
/// parallel; otherwise any client on the network could block pairing.
package struct PairingWindow: Sendable, Undisclosed {
    /// The maximum number of attempts in a window for a code.
    package static let attemptLimit = 5
    /// The maximum duration of an attempt. It is short because the user has typed the code before the attempt begins.
    package static let attemptTime = Duration.seconds(2)
    /// The range of a window's duration.
    package static let durations = Duration.seconds(1) ... .seconds(3600)

    /// An attempt to pair that the window has admitted.
    package struct Attempt: Sendable, Undisclosed {
        fileprivate let number: Int
        /// The number of the window that admitted it.
        package let opening: Int
        /// The time when the attempt has taken too long.
        package let deadline: ContinuousClock.Instant
        /// The secret that the client has to know.
        package let secret: PairingSecret
        /// The maximum role that the window grants.
        package let role: Role
        /// The client that opened the window; `nil` for the service's own host.
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

    /// Creates a closed window.
    package init() {}

    /// The number, kind and deadline of the open window; `nil` if it is closed.
    package var state: (number: Int, kind: PairingSecret.Kind, deadline: ContinuousClock.Instant)? {
        opening.map { ($0.number, $0.secret.kind, $0.deadline) }
    }

    /// Whether a window is open. Call ``update(at:)`` first, unless an expired window may count as open.
    package var isOpen: Bool { opening != nil }

    /// The time for the next call of ``update(at:)`` at the latest; `nil` while the window is closed.
    package var nextChange: ContinuousClock.Instant? {
        opening.map { $0.current?.deadline ?? $0.deadline }
    }

    /// Opens a window. It replaces an open window with its remaining attempts.
    ///
    /// - Parameters:
    ///   - duration: clamped to 1 s to an hour.
    ///   - role: the maximum role that the window grants.
    ///   - openedBy: the client that requested the window over the network; `nil` for the service's own host.
    ///   - random: returns this many random bytes; only tests pass it.
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

    /// Closes the window and drops its secret.
    package mutating func close() { opening = nil }

    /// Ends an attempt or a window that is past its deadline.
    package mutating func update(at now: ContinuousClock.Instant) {
        guard let opening else { return }
        if let current = opening.current, now >= current.deadline { end(current) }
        // An attempt that began in time may still succeed.
        if self.opening?.current == nil, now >= opening.deadline { close() }
    }

    /// Admits an attempt and counts it. Call it just before the answer to the client's point is sent.
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

    /// Closes the window, because the client has proved that it knows the secret.
    ///
    /// - Returns: whether the attempt was still valid. If not, the client must not be paired.
    package mutating func succeed(_ attempt: Attempt, at now: ContinuousClock.Instant) -> Bool {
        update(at: now)
        guard let opening, opening.number == attempt.opening, now < attempt.deadline,
            opening.secret.kind == .secret || opening.current?.number == attempt.number
        else { return false }
        close()
        return true
    }

    /// Withdraws an attempt that was not answered after all, so that it does not count.
    package mutating func withdraw(_ attempt: Attempt) {
        guard let opening, opening.current?.number == attempt.number else { return }
        self.opening?.attemptsLeft += 1
        end(attempt)
    }

    /// Ends an attempt without success. The last attempt closes the window.
    package mutating func end(_ attempt: Attempt) {
        guard let opening, opening.current?.number == attempt.number else { return }
        self.opening?.current = nil
        if opening.attemptsLeft == 0 { close() }
    }
}
