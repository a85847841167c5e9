import ElementalSecurity
import ElementalWire
import Support

/// Pairing with a service, as values for a view: it requests the code, and shows the remaining tries, the remaining
/// time and the outcome.
///
/// ```swift
/// let pairing = ObservedPairing(service, as: "Rob's iPhone", options: options)
/// // state is .waiting(.code): the service shows six digits
/// pairing.enter("483 291")
/// ```
/// It connects to the service when ``state`` is first read. Releasing it ends the pairing.
@MainActor
@Observable
public final class ObservedPairing {
    /// The progress of a pairing. Cases may be added; give a `switch` a default.
    public enum State: Sendable {
        /// Waits for the service's request.
        case asking
        /// The user has to enter what the service shows: six digits, or a long secret. See
        /// ``ObservedPairing/enter(_:)``.
        case waiting(PairingSecret.Kind)
        /// The service checks the entered code or secret.
        case checking
        /// Both ends trust each other: connections are encrypted from now on.
        case paired(TrustedService)
        /// The pairing failed; ``ObservedPairing/start()`` starts again. With the code `pairingClosed` the user first
        /// has to open the service for pairing.
        case failed(ElementalError)
    }

    private var currentState = State.asking
    /// The maximum number of codes that the service still accepts. It also counts those of other clients. `nil` before
    /// its request, and for a long secret, whose tries are not limited.
    public private(set) var triesLeft: Int?
    /// How long the service stays open for pairing, updated once a second; `nil` before its request.
    public private(set) var timeLeft: Duration?
    /// Why the last entry was not accepted, such as a wrong code; `nil` if it was.
    public private(set) var mistake: String?

    @ObservationIgnored private let place: ServicePlace
    @ObservationIgnored private let name: String
    @ObservationIgnored private let role: Role
    @ObservationIgnored private let options: ConnectOptions
    /// The current attempt, which ends with the model: its `deinit` may run on any thread.
    @ObservationIgnored private let task = Locked<Task<Void, Never>?>(nil)
    @ObservationIgnored private var hasBegun = false
    @ObservationIgnored private var entry = Outcome<PairingSecret>()
    /// The number of the current attempt; results of earlier ones are ignored.
    @ObservationIgnored private var attempt = 0
    /// The number of wrong codes in the current pairing window.
    @ObservationIgnored private var wrongCount = 0
    @ObservationIgnored private var deadline: ContinuousClock.Instant?
    @ObservationIgnored private var ticking: Task<Void, Never>?

    /// Creates a pairing with a discovered service.
    ///
    /// - Parameters:
    ///   - service: the service.
    ///   - name: this client's name in the service's list; not empty.
    ///   - role: the role that the client requests. It gets this one or the role that the service offers, whichever is
    ///     lower.
    ///   - options: with the client's identity and store in `security`.
    public convenience init(
        _ service: DiscoveredService, as name: String, role: Role = .control, options: ConnectOptions
    ) {
        self.init(.found(service), name, role, options)
    }

    /// Creates a pairing with a service by host and port, without Zeroconf.
    ///
    /// - Parameters:
    ///   - host: a host name or an address.
    ///   - port: the service's port.
    ///   - name: this client's name in the service's list; not empty.
    ///   - role: the role that the client requests. It gets this one or the role that the service offers, whichever is
    ///     lower.
    ///   - options: with the client's identity and store in `security`.
    public convenience init(
        host: String, port: Int, as name: String, role: Role = .control, options: ConnectOptions
    ) {
        self.init(.address(host: host, port: port), name, role, options)
    }

    private init(_ place: ServicePlace, _ name: String, _ role: Role, _ options: ConnectOptions) {
        self.place = place
        self.name = name
        self.role = role
        self.options = options
    }

    deinit { task.withLock { $0 }?.cancel() }

    /// The progress of the pairing. The first read starts it.
    public var state: State {
        if !hasBegun { start() }
        return currentState
    }

    /// Starts the pairing, or starts it again after a failure. Does nothing while it is in progress.
    public func start() {
        if hasBegun {
            guard case .failed = _currentState else { return }
            currentState = .asking
            mistake = nil
        }
        hasBegun = true
        ask()
    }

    /// Sends the service what the user has entered. Spaces and hyphens between the digits are ignored.
    ///
    /// A text that cannot be a code is not sent and costs no try; ``mistake`` reports it. After a wrong code the
    /// pairing waits for the next one, while the service accepts another.
    public func enter(_ text: String) {
        guard case .waiting(let kind) = _currentState else { return }
        let secret = kind == .code ? PairingSecret(code: text) : PairingSecret(secret: text)
        guard let secret else {
            mistake = kind == .code ? "enter the six digits of the code" : "the secret is not valid; enter all of it"
            return
        }
        mistake = nil
        currentState = .checking
        entry.resolve(secret)
    }

    /// Ends the pairing. The service may still accept a code that it is checking.
    public func cancel() {
        hasBegun = true
        if case .paired = _currentState { return }
        fail(ElementalError(.cancelled, "the pairing was cancelled"))
    }

    /// The delay before the next attempt after a wrong code: the service allows a host five handshakes a second, and a
    /// code costs two.
    private static let pause = Duration.milliseconds(500)

    private func ask(after delay: Duration = .zero) {
        attempt += 1
        entry = Outcome()
        let new = Task { [weak self, attempt, entry, place, name, role, options] in
            if delay > .zero { await Delay.wait(delay) }
            do {
                let service = try await place.pair(as: name, role: role, options: options) { request in
                    self?.noteRequest(request, attempt)
                    return await entry.value()
                }
                self?.notePaired(service, attempt)
            } catch {
                self?.noteFailed(error, attempt)
            }
        }
        task.withLock { $0 = new }
    }

    private func noteRequest(_ request: PairingRequest, _ attempt: Int) {
        guard attempt == self.attempt else { return }
        let deadline = ContinuousClock.now + request.timeLeft
        // The service sends whole seconds, so deadlines of the same window differ slightly.
        let isSameWindow = self.deadline.map { ($0 - Self.tolerance...$0 + Self.tolerance).contains(deadline) } ?? false
        if !isSameWindow || wrongCount >= PairingWindow.attemptLimit { wrongCount = 0 }
        if !isSameWindow { self.deadline = deadline }
        triesLeft = request.kind == .code ? PairingWindow.attemptLimit - wrongCount : nil
        currentState = .waiting(request.kind)
        tick()
    }

    private static let tolerance = Duration.seconds(2)

    private func notePaired(_ service: TrustedService, _ attempt: Int) {
        guard attempt == self.attempt else { return }
        currentState = .paired(service)
        timeLeft = nil
        deadline = nil
    }

    private func noteFailed(_ error: any Error, _ attempt: Int) {
        guard attempt == self.attempt else { return }
        let error = error as? ElementalError ?? ElementalError(.connectionFailed, "cannot pair", cause: error)
        guard error.code == .wrongCode else { return fail(error) }
        wrongCount += 1
        if triesLeft != nil { triesLeft = max(0, PairingWindow.attemptLimit - wrongCount) }
        mistake = error.message
        currentState = .asking
        ask(after: Self.pause)
    }

    private func fail(_ error: ElementalError) {
        attempt += 1
        task.withLock { $0 }?.cancel()
        timeLeft = nil
        currentState = .failed(error)
    }

    private func tick() {
        guard let deadline else { return }
        let left = deadline - .now
        switch _currentState {
        case .paired, .failed: return
        case .waiting where left <= .zero:
            return fail(
                ElementalError(
                    .pairingClosed, "the time for pairing is over: open the service for pairing again, then retry"))
        case .asking, .waiting, .checking: break
        }
        timeLeft = max(left, .zero)
        guard ticking == nil else { return }
        ticking = Task { [weak self] in
            await Delay.wait(.seconds(1))
            self?.ticking = nil
            self?.tick()
        }
    }
}
