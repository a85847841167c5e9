import ElementalWire
import Observation

/// One element for views. A view that reads a cell is invalidated only by changes of that cell.
///
/// Two values compete: the service's newest and the user's. The user's value is shown from the moment of writing until
/// the service refuses it, or sends another one after the control has stopped moving.
@MainActor
final class ElementCell: Observable {
    /// The state of the user's value.
    private enum Phase {
        /// It is not sent yet.
        case unsent
        /// It was sent, and the service has not handled it yet.
        case inFlight
        /// The service has handled it, but the control may still be moving.
        case moving
        /// The control rests: the service's value is shown.
        case resting
    }

    private(set) var definition: ElementDefinition
    var isFollowed = false
    /// The number of the user's newest write among all elements' writes.
    private(set) var writeNumber = 0
    private let registrar = ObservationRegistrar()
    private var said: ElementValue?
    /// The user's value that the service has accepted without sending a value since.
    private var taken: ElementValue?
    /// The user's value, until the control rests.
    private var own: ElementValue?
    private var phase = Phase.resting
    /// The value that the service has not handled yet; `nil` also after a refusal.
    private var sent: ElementValue?
    /// Whether the service has sent a value since the last value was sent to it.
    private var hasNews = false
    private var moved = ContinuousClock.now
    private var shown: ElementValue?
    private var lastFailure: WriteFailure?
    /// The shown value in the type that a view reads, if that required decoding.
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

    /// Returns the value as a type that is not a wire type, decoded once.
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

    // MARK: Actions of the user

    func write(_ value: ElementValue, number: Int) {
        own = value
        phase = .unsent
        moved = .now
        writeNumber = number
        set(nil)
        show()
    }

    /// Rejects a value that cannot be sent. Views that read the element are drawn again, so that their controls move
    /// back.
    func reject(_ error: ElementalError) {
        set(.notSent(error))
        show(always: true)
    }

    // MARK: Events of the connection

    /// Handles the service's definition of the element; `said` is the element's value by that definition.
    func redefine(_ definition: ElementDefinition, _ said: ElementValue?) {
        let isOther = definition.type != self.definition.type
        self.definition = definition
        guard isOther else { return }
        (self.said, taken, own, sent) = (said, nil, nil, nil)
        phase = .resting
        set(nil)
        show()
    }

    /// Whether the user's value takes precedence over the service's.
    var isMoved: Bool { own != nil }

    /// The value to send; `nil` if there is none. It is sent when the service has handled the one before.
    var unsent: ElementValue? { phase == .unsent ? own : nil }

    func noteSent() {
        phase = .inFlight
        sent = own
        hasNews = false
    }

    /// - Parameter isNews: whether the value has just arrived.
    func noteSaid(_ value: ElementValue?, isNews: Bool) {
        guard let value else { return }
        said = value
        if isNews {
            hasNews = true
            taken = nil
        }
        show()
    }

    /// The service has handled what was sent, and all its answers have arrived.
    func noteAnswered() {
        if let sent, !hasNews { taken = sent }
        sent = nil
        if phase == .inFlight { phase = .moving }
    }

    /// The service has refused the value that was sent last. If the user has written another one since, that one is
    /// sent.
    func noteRefused(_ refusal: ValueRefusal) {
        switch phase {
        case .unsent: sent = nil
        case .inFlight: putBack(.refused(refusal))
        case .moving, .resting:
            // The refusal may come late, after the service has handled the value.
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

    /// The connection is lost. A value in flight may not have arrived, and is sent again after a reconnection.
    func noteLost() {
        sent = nil
        if phase == .inFlight { phase = .unsent }
    }

    /// The connection has ended: a value that was not handled is put back.
    func noteEnded(_ error: ElementalError) {
        if phase == .unsent || phase == .inFlight { putBack(.notSent(error)) }
    }

    /// Lets the service's values move the control again after it has rested for `hold`.
    ///
    /// - Returns: when to call it again; `nil` if that is not necessary.
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
