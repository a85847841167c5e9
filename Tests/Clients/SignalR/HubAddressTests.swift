import ClientTransport
import Testing

@testable import SignalR

/// The requests of a connection, from an address as a person types it.
struct HubAddressTests {
    /// The encoded names are those that `python3 -c 'print(name.encode("idna"))'` gives.
    @Test(arguments: [
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("b%C3%BCcher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("例え.jp", "xn--r8jz45g.jp"),
        ("例え。jp", "xn--r8jz45g.jp"),
        ("üä", "xn--4ca1c"),
        ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"),
        ("pi.local", "pi.local"),
        ("my_host", "my_host"),
        ("192.168.1.7", "192.168.1.7"),
        ("[::1]", "::1"),
        ("[fe80::1%25eth0]", "fe80::1%eth0"),
    ])
    func theHostIsASCII(_ typed: String, _ host: String) throws {
        #expect(try HubAddress("http://\(typed):5000/chat").endpoint.host == host)
    }

    @Test(
        "a host that would end its header, or cannot be a name, is refused",
        arguments: [
            "", "a b", "a%20b", "a%0D%0AX-Header: 1", "a%00b", "a%2Fb", "a%40b", "a%ffb", "a\u{2003}ü",
            String(repeating: "ü", count: 64),
        ])
    func impossibleHostsAreRefused(_ host: String) {
        let error = #expect(throws: SignalRError.self) { try HubAddress("http://\(host)/chat") }
        #expect(error?.code == .invalidURL)
    }

    @Test
    func whatIsAddedToTheQueryIsEncoded() throws {
        let address = try HubAddress("http://h/chat?a=1").adding("id", "a+b/c d=ü~-._")
        #expect(address.target == "/chat?a=1&id=a%2Bb%2Fc%20d%3D%C3%BC~-._")
    }

    @Test
    func credentialsAreNotShown() {
        #expect(ServerURL.withoutCredentials("http://me:secret@host/chat") == "http://…@host/chat")
        #expect(ServerURL.withoutCredentials("http://host/a@b") == "http://host/a@b")
    }
}
