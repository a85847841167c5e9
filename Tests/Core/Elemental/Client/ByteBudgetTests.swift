import Elemental
import Testing

struct ByteBudgetTests {
    @Test("a holder gets no more than it leaves, and gives back what it has no more")
    func shares() {
        let budget = ByteBudget(60)
        #expect(!budget.replace(0, by: 31, own: 0))
        #expect(budget.replace(0, by: 30, own: 0))
        // The second one gets what is left to a third one too.
        #expect(!budget.replace(0, by: 16, own: 0))
        #expect(budget.replace(0, by: 15, own: 0))
        #expect(!budget.replace(30, by: 31, own: 30))
        #expect(budget.replace(30, by: 22, own: 30))
        #expect(budget.usedByteCount == 37)
        // What is already there is counted in any case.
        #expect(!budget.note(20, own: 20))
        #expect(budget.note(-20, own: 0))
        #expect(budget.usedByteCount == 37)
    }
}
