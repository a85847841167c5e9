import Elemental
import Testing

@testable import SignalRBridge

/// Detecting values that are too large for a hub by lost connections.
struct OversizedValueTests {
    private static let text = Element<String>(1, "Text").definition
    private static let note = Element<String>(2, "Note").definition
    private static let start = ContinuousClock.now

    private static func value(_ count: Int) -> ElementValue { .string(String(repeating: "x", count: count)) }

    @Test
    func theLargestValueBeforeTwoErrorsOfTheHubIsLeftOut() {
        var values = OversizedValues()
        for round in 1...2 {
            values.note(Self.value(2000), of: Self.note, at: Self.start)
            values.note(Self.value(40_000), of: Self.text, at: Self.start)
            let found = values.connectionLost(isByHub: true, at: Self.start)
            #expect(found?.id == (round == 2 ? 1 : nil))
            #expect(found?.byteCount == (round == 2 ? 40_000 : nil))
        }
        #expect(values.isTooLarge(Self.value(40_000), of: Self.text))
        #expect(values.isTooLarge(Self.value(50_000), of: Self.text))
        #expect(!values.isTooLarge(Self.value(39_999), of: Self.text))
        #expect(!values.isTooLarge(Self.value(40_000), of: Self.note))
    }

    @Test
    func otherLossesTakeThree() {
        var values = OversizedValues()
        for round in 1...3 {
            values.note(Self.value(40_000), of: Self.text, at: Self.start)
            let found = values.connectionLost(isByHub: false, at: Self.start)
            #expect((found?.id == 1) == (round == 3))
        }
    }

    @Test
    func aConnectionThatOutlivesAValueClearsIt() {
        var values = OversizedValues()
        for _ in 1...5 {
            values.note(Self.value(40_000), of: Self.text, at: Self.start)
            let soon = values.connectionLost(isByHub: false, at: Self.start)
            #expect(soon?.id == nil)
            values.note(Self.value(40_000), of: Self.text, at: Self.start)
            let late = values.connectionLost(isByHub: true, at: Self.start + OversizedValues.window)
            #expect(late?.id == nil)
        }
    }

    @Test
    func smallValuesAreNotSuspected() {
        var values = OversizedValues()
        for _ in 1...5 {
            values.note(Self.value(1000), of: Self.text, at: Self.start)
            let found = values.connectionLost(isByHub: true, at: Self.start)
            #expect(found?.id == nil)
        }
    }

    @Test
    func dataIsLongerInAMessage() {
        #expect(OversizedValues.byteCount(of: .data(.init(repeating: 0, count: 30_000))) == 40_000)
    }
}
