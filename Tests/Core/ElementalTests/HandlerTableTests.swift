import Testing

@testable import Elemental

/// Handlers come and go; what is gone leaves nothing behind.
struct HandlerTableTests {
    @Test("handlers of every kind that were cancelled, twice too, leave nothing behind")
    func cancelled() {
        let table = HandlerTable()
        for _ in 0..<100 {
            let progress = table.addForProgress { _, _ in }
            let one = HandlerRegistration(table: table, token: table.reserve())
            #expect(table.add(one.token, for: 3) { _, _ in })
            let all = HandlerRegistration(table: table, token: table.reserve())
            #expect(table.addForAll(all.token) { _, _, _ in })
            for registration in [progress, one, all] {
                registration.cancel()
                registration.cancel()
            }
        }
        #expect(table.counts.handlers == 0)
        #expect(table.counts.reserved == 0)
    }

    @Test("a handler that is cancelled before its turn to be added is not added")
    func cancelledBefore() {
        let table = HandlerTable()
        let early = HandlerRegistration(table: table, token: table.reserve())
        let kept = HandlerRegistration(table: table, token: table.reserve())
        early.cancel()
        early.cancel()
        #expect(!table.add(early.token, for: 3) { _, _ in })
        #expect(table.add(kept.token, for: 3) { _, _ in })
        #expect(table.counts.handlers == 1)
        #expect(table.counts.reserved == 0)
    }
}
