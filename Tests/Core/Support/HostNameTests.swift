import Support
import Testing

/// This machine's name.
struct HostNameTests {
    @Test
    func itIsTheSystemsWithoutItsDomain() {
        var system = utsname()
        #expect(uname(&system) == 0)
        let node = withUnsafeBytes(of: system.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let name = node.prefix { $0 != "." }
        #expect(HostName.current == (name.isEmpty ? "elemental" : String(name)))
    }
}
