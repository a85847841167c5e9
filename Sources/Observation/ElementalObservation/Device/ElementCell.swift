import ElementalWire
import Observation

/// One element as views see it. A view that reads a cell is invalidated by changes of that cell only.
///
/// Two values compete: the one that the service said last, and the one that the user has written. The user's is shown from
/// the moment of writing until the service has said something else while nobody moves the control any more, or refuses it.
@MainActor
final class ElementCell: Observable {
    /// What has become of the user's value.
    private enum Phase {
        /// It has yet to be sent.
        case unsent
        /// It was sent, and the service has not dealt with it yet.
        case inFlight
        /// The service has dealt with it, but the control may still be moving.
        case moving
        /// The control rests: what the service says is shown.
        case resting
    }

    private(set) var definition: ElementDefinition
    var isFollowed = false
    /// The place of the user's value among all that were written.
    private(set) var writeNumber = 0
    private let registrar = ObservationRegistrar()
    private var said: ElementValue?
    /// What the user wrote and the service took without saying anything since then.
    private var taken: ElementValue?
    /// What the user wrote, until the control rests.
    private var own: ElementValue?
    private var phase = Phase.resting
    /// What was sent and the service has not dealt with yet; `nil` also once it is refused.
    private var sent: ElementValue?
    /// Whether the service has said something since the last value was sent.
    private var hasNews = false
    private var moved = ContinuousClock.now
    private var shown: ElementValue?
    private var lastFailure: WriteFailure?
    /// The shown value as the type that a view reads, if that took decoding.
    private var decoded: (any Sendable)?

    init(_ definition: ElementDefinition, _ said: ElementValue?) {
        self.definition = definition
        self.said = said
        shown = said
    }

    // MARK: What views read

    var value: ElementValue? {
        registrar.access(self, keyPath: \.value)
        return shown
    }

    /// The value as a type whose form is not the wire's, decoded once.
    func decodedValue<Value: ElementRepresentable>(as type: Value.Type) -> Value? {
        guard let value else { return nil }
        if let known = decoded as? Value { return known }
        let new = Value(value)
        decoded = new
        return new
    }

    var failure: WriteFailure? {
        registrar.access(self, keyPath: \.failure)
        return lastFailure
    }

    private func show(always: Bool = false) {
        let new = own ?? taken ?? said
        guard always || new != shown else { return }
        registrar.withMutation(of: self, keyPath: \.value) {
            shown = new
            decoded = nil
        }
    }

    private func set(_ failure: WriteFailure?) {
        guard failure != nil || lastFailure != nil else { return }
        registrar.withMutation(of: self, keyPath: \.failure) { lastFailure = failure }
    }

    // MARK: What the user does

    func write(_ value: ElementValue, number: Int) {
        own = value
        phase = .unsent
        moved = .now
        writeNumber = number
        set(nil)
        show()
    }

    /// The user has written a value that cannot be sent. Views that read the element draw it again, and so their controls.
    func reject(_ error: ElementalError) {
        set(.notSent(error))
        show(always: true)
    }

    // MARK: What happens to it

    /// The service has said what the element is like; `said` is its value as such.
    func redefine(_ definition: ElementDefinition, _ said: ElementValue?) {
        let isOther = definition.type != self.definition.type
        self.definition = definition
        guard isOther else { return }
        (self.said, taken, own, sent) = (said, nil, nil, nil)
        phase = .resting
        set(nil)
        show()
    }

    /// Whether the user's value is shown, whatever the service says.
    var isMoved: Bool { own != nil }

    /// The value to send; `nil` if there is none. It is sent when the service has dealt with the one before.
    var unsent: ElementValue? { phase == .unsent ? own : nil }

    func noteSent() {
        phase = .inFlight
        sent = own
        hasNews = false
    }

    /// - Parameter isNews: whether it came just now.
    func noteSaid(_ value: ElementValue?, isNews: Bool) {
        guard let value else { return }
        said = value
        if isNews {
            hasNews = true
            taken = nil
        }
        show()
    }

    /// The service has dealt with what was sent, and everything that it said about it has arrived.
    func noteAnswered() {
        if let sent, !hasNews { taken = sent }
        sent = nil
        if phase == .inFlight { phase = .moving }
    }

    /// The service has refused what was sent last. If the user has written another value since then, that one is tried.
    func noteRefused(_ refusal: ValueRefusal) {
        switch phase {
        case .unsent: sent = nil
        case .inFlight: putBack(.refused(refusal))
        case .moving, .resting:
            // It has thought about it for a while.
            guard own != nil || taken != nil else { return }
            taken = nil
            putBack(.refused(refusal))
        }
    }

    func putBack(_ failure: WriteFailure) {
        own = nil
        sent = nil
        phase = .resting
        set(failure)
        show(always: true)
    }

    /// The connection is lost: what was under way may not have arrived, and is sent again when there is another one.
    func noteLost() {
        sent = nil
        if phase == .inFlight { phase = .unsent }
    }

    /// The connection has ended: what was not dealt with is put back.
    func noteEnded(_ error: ElementalError) {
        if phase == .unsent || phase == .inFlight { putBack(.notSent(error)) }
    }

    /// Lets the service's values move the control again, if it has rested for so long.
    ///
    /// - Returns: when to call it again; `nil` if that is not needed.
    func settle(at now: ContinuousClock.Instant, hold: Duration) -> ContinuousClock.Instant? {
        guard phase == .moving else { return nil }
        let end = moved + hold
        guard now >= end else { return end }
        phase = .resting
        own = nil
        show()
        return nil
    }
}
