import NIOCore
import NIOPosix
import Support
import Testing

@testable import WebServer

/// The rules that need addresses or times which a test cannot have over connections.
struct AccessRuleTests {
    private func tokenGuard(_ change: (inout WebServerLimits) -> Void = { _ in }) -> TokenGuard {
        var options = WebServerOptions()
        options.token = "t"
        change(&options.limits)
        return TokenGuard(options)
    }

    @Test func wrongTokensAreForgottenAfterAWhile() throws {
        var tokens = tokenGuard { $0.maximumWrongTokens = 2 }
        let host = try #require(IPAddress(literal: "192.0.2.1"))
        let other = try #require(IPAddress(literal: "192.0.2.2"))
        let start = NIODeadline.now()
        #expect(tokens.check("x", from: host, at: start) == .wrong)
        #expect(tokens.check("x", from: host, at: start) == .wrong)
        #expect(tokens.check("t", from: host, at: start + .seconds(59)) == .tooMany)
        #expect(tokens.check("t", from: other, at: start + .seconds(59)) == .accepted)
        #expect(tokens.check("t", from: host, at: start + .seconds(60)) == .accepted)
    }

    /// A network of IPv6 has more addresses than anybody can count; together they have one count.
    @Test func aNetworkIsOneClient() throws {
        var tokens = tokenGuard { $0.maximumWrongTokens = 3 }
        let verdicts = try (0..<5).map { number in
            tokens.check("x", from: try #require(IPAddress(literal: "2001:db8::\(number)")), at: .now())
        }
        #expect(verdicts == [.wrong, .wrong, .wrong, .tooMany, .tooMany])
        let neighbour = try #require(IPAddress(literal: "fe80::1"))
        #expect(try neighbour.client != #require(IPAddress(literal: "fe80::2")).client)
    }

    @Test func guessersAreCountedWithinBounds() throws {
        var tokens = tokenGuard()
        let start = NIODeadline.now()
        for number in 0..<2000 {
            let host = try #require(IPAddress(literal: "10.0.\(number / 250).\(number % 250)"))
            _ = tokens.check("x", from: host, at: start)
        }
        #expect(tokens.count == TokenGuard.maximumHosts)
        let host = try #require(IPAddress(literal: "10.1.0.0"))
        #expect(tokens.check("x", from: host, at: start + .seconds(61)) == .wrong)
        #expect(tokens.count == 1)
    }

    @Test func connectionsAreCountedByClient() throws {
        var limits = WebServerLimits()
        limits.maximumConnections = 5
        limits.maximumConnectionsPerHost = 2
        limits.maximumLoopbackConnections = 4
        var admissions = Admissions(limits)
        let (a, b) = (try #require(IPAddress(literal: "192.0.2.1")), try #require(IPAddress(literal: "192.0.2.2")))
        let loopback = try #require(IPAddress(literal: "::1"))
        func admit(_ host: IPAddress, times: Int = 1) -> [Bool] { (0..<times).map { _ in admissions.admit(host) } }
        #expect(admit(a, times: 3) == [true, true, false])
        #expect(admit(loopback, times: 4) == [true, true, true, false])
        #expect(admit(b) == [false])
        for host in [a, a, loopback, loopback, loopback] { admissions.release(host) }
        #expect(admissions.count == 0)
        #expect(admissions.clientCount == 0)
        #expect(admit(loopback, times: 5) == [true, true, true, true, false])
        #expect(admit(b) == [true])
    }

    @Test func ownAddressesAreLookedUpOnceASecond() throws {
        let looks = Locked(0)
        var own = OwnAddresses {
            let count = looks.withLock { looks in
                looks += 1
                return looks
            }
            return [try? SocketAddress(ipAddress: "192.0.2.\(count)", port: 0)].compactMap { $0 }
        }
        let addresses = try (1...3).map { try #require(IPAddress(literal: "192.0.2.\($0)")) }
        let start = NIODeadline.now()
        func has(_ index: Int, after time: Int64) -> Bool {
            own.contains(addresses[index], at: start + .milliseconds(time))
        }
        #expect(has(0, after: 0))
        #expect(!has(1, after: 0))
        #expect(!has(1, after: 999))
        #expect(looks.withLock { $0 } == 1)
        #expect(has(1, after: 1000))
        #expect(!has(0, after: 1500))
        #expect(looks.withLock { $0 } == 2)
    }

    @Test(arguments: [
        ("127.0.0.1", "::ffff:127.0.0.1"), ("::1", "0:0::1"), ("2001:db8::1", "2001:0DB8:0:0::1"),
    ])
    func addressesAreComparedByValue(_ one: String, _ other: String) throws {
        #expect(try #require(IPAddress(literal: one)) == #require(IPAddress(literal: other)))
    }

    @Test(arguments: ["::1", "127.0.0.1", "127.255.0.3", "::ffff:127.0.0.1"])
    func loopbackIsRecognised(_ literal: String) { #expect(IPAddress(literal: literal)?.isLoopback == true) }

    @Test(arguments: ["::2", "126.0.0.1", "128.0.0.1", "::7f00:1", "fe80::1", "0.0.0.0", "::"])
    func otherAddressesAreNotLoopback(_ literal: String) { #expect(IPAddress(literal: literal)?.isLoopback == false) }

    @Test func hostsOfOptionsAreChecked() {
        for host in ["pi.local", "PI", "192.0.2.1", "::1", "[::1]", "a_b", "xn--bcher-kva.example"] {
            #expect(WebServerOptions.isHost(host), "\(host)")
        }
        for host in ["", "pi.local:80", "http://pi", "a b", "*", "pi/", "[::1]:80", "a..b", "bücher.example"] {
            #expect(!WebServerOptions.isHost(host), "\(host)")
        }
    }

    @Test func datesAreThoseOfHTTP() {
        #expect(ResponseText.date(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(ResponseText.date(951_782_400) == "Tue, 29 Feb 2000 00:00:00 GMT")
    }
}
