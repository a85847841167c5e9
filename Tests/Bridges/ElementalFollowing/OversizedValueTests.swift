import Testing

@testable import ElementalFollowing

/// Detecting values that are too large for a hub or a broker by lost connections.
struct OversizedValueTests {
    private static let text: Int8 = 1
    private static let note: Int8 = 2
    private static let start = ContinuousClock.now

    @Test
    func theLargestValueBeforeTwoErrorsOfTheHubIsLeftOut() {
        var values = OversizedValues<Int8>()
        for round in 1...2 {
            values.note(2000, of: Self.note, at: Self.start)
            values.note(40_000, of: Self.text, at: Self.start)
            let found = values.connectionLost(isByPeer: true, at: Self.start)
            #expect(found?.id == (round == 2 ? 1 : nil))
            #expect(found?.byteCount == (round == 2 ? 40_000 : nil))
        }
        #expect(values.isTooLarge(40_000, of: Self.text))
        #expect(values.isTooLarge(50_000, of: Self.text))
        #expect(!values.isTooLarge(39_999, of: Self.text))
        #expect(!values.isTooLarge(40_000, of: Self.note))
    }

    @Test
    func otherLossesTakeThree() {
        var values = OversizedValues<Int8>()
        for round in 1...3 {
            values.note(40_000, of: Self.text, at: Self.start)
            let found = values.connectionLost(isByPeer: false, at: Self.start)
            #expect((found?.id == 1) == (round == 3))
        }
    }

    @Test
    func aConnectionThatOutlivesAValueClearsIt() {
        var values = OversizedValues<Int8>()
        for _ in 1...5 {
            values.note(40_000, of: Self.text, at: Self.start)
            let soon = values.connectionLost(isByPeer: false, at: Self.start)
            #expect(soon?.id == nil)
            values.note(40_000, of: Self.text, at: Self.start)
            let late = values.connectionLost(isByPeer: true, at: Self.start + OversizedValues<Int8>.window)
            #expect(late?.id == nil)
        }
    }

    @Test
    func smallValuesAreNotSuspected() {
        var values = OversizedValues<Int8>()
        for _ in 1...5 {
            values.note(1000, of: Self.text, at: Self.start)
            let found = values.connectionLost(isByPeer: true, at: Self.start)
            #expect(found?.id == nil)
        }
    }

    /// A camera sends a picture each second, and the broker is started again now and then.
    @Test
    func aSizeThatAConnectionHasOutlivedIsNotSuspected() {
        var values = OversizedValues<Int8>()
        var now = Self.start
        for _ in 1...5 {
            for second in 0..<60 {
                values.note(40_000 + second % 3, of: Self.text, at: now)
                now += .seconds(1)
            }
            let found = values.connectionLost(isByPeer: true, at: now)
            #expect(found?.id == nil)
        }
        // A larger one on such a connection is.
        for round in 1...2 {
            values.note(40_000, of: Self.text, at: now)
            now += .seconds(40)
            values.note(900_000, of: Self.text, at: now)
            let found = values.connectionLost(isByPeer: true, at: now)
            #expect(found?.byteCount == (round == 2 ? 900_000 : nil))
        }
    }
}
