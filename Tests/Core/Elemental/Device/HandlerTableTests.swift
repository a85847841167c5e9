import Testing

@testable import Elemental

/// Cancelled handlers leave nothing behind in the table.
struct HandlerTableTests {
    @Test("cancelled handlers of every kind leave nothing behind, even if cancelled twice")
    func cancelled() {
        let table = HandlerTable()
        for _ in 0..<100 {
            let progress = table.addForProgress { _, _ in }
            let refusals = table.addForRefusals { _, _, _ in }
            let (one, all) = (table.reserve(), table.reserve())
            #expect(table.add(one, for: 3) { _, _ in })
            #expect(table.addForAll(all) { _, _, _ in })
            for registration in [
                progress, refusals, HandlerRegistration(table: table, token: one),
                HandlerRegistration(table: table, token: all),
            ] {
                registration.cancel()
                registration.cancel()
            }
        }
        #expect(table.counts.handlers == 0)
        #expect(table.counts.reserved == 0)
    }

    @Test("a handler that is cancelled before it is added is not added")
    func cancelledBefore() {
        let table = HandlerTable()
        let (early, kept) = (table.reserve(), table.reserve())
        let registration = HandlerRegistration(table: table, token: early)
        registration.cancel()
        registration.cancel()
        #expect(!table.add(early, for: 3) { _, _ in })
        #expect(table.add(kept, for: 3) { _, _ in })
        #expect(table.counts.handlers == 1)
        #expect(table.counts.reserved == 0)
    }
}
