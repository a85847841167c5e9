import Support
import Testing

/// Tokens for what is added and taken out again.
struct RegistryTests {
    @Test
    func entriesKeepTheirOrderAndTokensAreNotReused() {
        var registry = Registry<String>()
        let first = registry.add("a")
        let second = registry.add("b")
        #expect(registry.all == ["a", "b"])
        #expect(registry.take(first) == "a")
        #expect(registry.take(first) == nil)
        #expect(registry.add("c") > second)
        #expect(registry.takeAll() == ["b", "c"])
        #expect(registry.count == 0)
        #expect(registry.add("d") > second + 1)
        #expect(registry.take(second) == nil)
    }
}
