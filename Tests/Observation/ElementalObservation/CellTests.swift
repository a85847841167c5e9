import Elemental
import Testing

@testable import ElementalObservation

/// What an element shows while the user and the service disagree, event by event.
@MainActor
struct CellTests {
    private let cell = ElementCell(Element<Float>(1, "Level", range: 0...1), .float(0.5))
    private static let refusal = ValueRefusal("no")
    private static let error = ElementalError(.notConnected, "no connection")

    private func isRefused(_ cell: ElementCell) -> Bool {
        if case .refused(Self.refusal) = cell.failure { true } else { false }
    }

    @Test
    func aValueIsSentOnceAndAcceptedSilently() {
        #expect(cell.value == .float(0.5) && cell.unsent == nil)
        cell.write(.float(0.6), number: 1)
        #expect(cell.value == .float(0.6) && cell.unsent == .float(0.6))
        cell.noteSent()
        #expect(cell.unsent == nil)
        cell.noteAnswered()
        let now = ContinuousClock.now
        let end = cell.settle(at: now, hold: .seconds(10))
        #expect(end.map { $0 > now && $0 <= now + .seconds(10) } == true)
        #expect(cell.settle(at: now + .seconds(11), hold: .seconds(10)) == nil)
        #expect(cell.value == .float(0.6) && cell.failure == nil)
        // From now on the service is heard.
        cell.noteSaid(.float(0.1), isNews: true)
        #expect(cell.value == .float(0.1))
    }

    @Test
    func theNewestWaitsForTheOneBefore() {
        cell.write(.float(0.6), number: 1)
        cell.noteSent()
        cell.write(.float(0.7), number: 2)
        cell.write(.float(0.8), number: 3)
        #expect(cell.value == .float(0.8) && cell.writeNumber == 3)
        // The first is refused, which is of no interest any more.
        cell.noteRefused(Self.refusal)
        #expect(cell.value == .float(0.8) && cell.failure == nil)
        cell.noteAnswered()
        #expect(cell.unsent == .float(0.8))
        cell.noteSent()
        cell.noteRefused(Self.refusal)
        #expect(cell.value == .float(0.5) && isRefused(cell))
        cell.noteAnswered()
        #expect(cell.unsent == nil && cell.value == .float(0.5))
        cell.write(.float(0.9), number: 4)
        #expect(cell.failure == nil)
    }

    @Test
    func aRefusedValueIsPutBackToTheOneThatTheServiceTook() {
        cell.write(.float(0.6), number: 1)
        cell.noteSent()
        cell.write(.float(0.7), number: 2)
        cell.noteAnswered()
        cell.noteSent()
        cell.noteRefused(Self.refusal)
        cell.noteAnswered()
        #expect(cell.value == .float(0.6) && isRefused(cell))
        // A service that says what it has is believed.
        cell.noteSaid(.float(0.5), isNews: true)
        #expect(cell.value == .float(0.5))
        // Refused while another one waits, it was not taken.
        cell.write(.float(0.8), number: 3)
        cell.noteSent()
        cell.write(.float(0.9), number: 4)
        cell.noteRefused(Self.refusal)
        cell.noteAnswered()
        cell.noteSent()
        cell.noteRefused(Self.refusal)
        #expect(cell.value == .float(0.5))
    }

    @Test
    func whatTheServiceSaysWaitsUntilTheControlRests() {
        cell.write(.float(0.6), number: 1)
        cell.noteSaid(.float(0.1), isNews: true)
        cell.noteSent()
        cell.noteSaid(.float(0.2), isNews: true)
        cell.noteAnswered()
        cell.noteSaid(.float(0.3), isNews: true)
        #expect(cell.value == .float(0.6))
        _ = cell.settle(at: .now, hold: .zero)
        #expect(cell.value == .float(0.3))
    }

    @Test
    func whatTheServiceSaidBeforeTheValueWasSentIsOlder() {
        cell.write(.float(0.6), number: 1)
        cell.noteSaid(.float(0.1), isNews: true)
        cell.noteSent()
        // Looked at late, and not new either.
        cell.noteSaid(.float(0.1), isNews: false)
        cell.noteAnswered()
        _ = cell.settle(at: .now, hold: .zero)
        #expect(cell.value == .float(0.6))
    }

    @Test
    func aRefusalThatComesLateStillPutsTheValueBack() {
        cell.write(.float(0.6), number: 1)
        cell.noteSent()
        cell.noteAnswered()
        _ = cell.settle(at: .now, hold: .zero)
        cell.noteRefused(Self.refusal)
        #expect(cell.value == .float(0.5) && isRefused(cell))
        // A refusal of a value that the user did not set, or that was put back already.
        cell.write(.float(0.5), number: 2)
        cell.noteSent()
        cell.noteAnswered()
        _ = cell.settle(at: .now, hold: .zero)
        cell.noteSaid(.float(0.4), isNews: true)
        cell.noteRefused(Self.refusal)
        #expect(cell.value == .float(0.4) && cell.failure == nil)
    }

    @Test
    func whatWasUnderWayWhenTheConnectionWasLostIsSentAgain() {
        cell.write(.float(0.6), number: 1)
        cell.noteSent()
        cell.noteLost()
        #expect(cell.unsent == .float(0.6))
        cell.noteSaid(.float(0.1), isNews: true)
        #expect(cell.value == .float(0.6))
        cell.noteSent()
        cell.write(.float(0.7), number: 2)
        cell.noteLost()
        #expect(cell.unsent == .float(0.7))
        // What was dealt with is not.
        cell.noteSent()
        cell.noteAnswered()
        cell.noteLost()
        #expect(cell.unsent == nil && cell.value == .float(0.7))
    }

    @Test
    func theEndPutsBackWhatWasNotDealtWith() {
        cell.write(.float(0.6), number: 1)
        cell.noteEnded(Self.error)
        #expect(cell.value == .float(0.5) && cell.failure?.description == "no connection")
        cell.write(.float(0.7), number: 2)
        cell.noteSent()
        cell.noteAnswered()
        cell.noteEnded(Self.error)
        #expect(cell.value == .float(0.7) && cell.failure == nil)
    }

    @Test
    func controlsAreDrawnAgainWhereTheyWere() {
        let (value, failure) = (Watch { _ = cell.value }, Watch { _ = cell.failure })
        cell.reject(Self.error)
        #expect(value.count == 1 && failure.count == 1 && cell.value == .float(0.5))
        cell.noteSaid(.float(0.5), isNews: true)
        #expect(value.count == 1)
        cell.write(.float(0.5), number: 1)
        #expect(value.count == 1 && failure.count == 2)
    }
}
