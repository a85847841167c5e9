import Testing

@testable import ElementalSecurity

/// The keys of a connection's datagrams, and what is opened with them.
struct DatagramProtectionTests {
    private static let client = Fingerprint(publicKey: [1])
    private static let service = Fingerprint(publicKey: [2])

    /// Both ends of a connection that have exchanged their secrets.
    private struct Ends {
        let client = DatagramProtection(
            isService: false, own: DatagramProtectionTests.client, peer: DatagramProtectionTests.service)
        let service = DatagramProtection(
            isService: true, own: DatagramProtectionTests.service, peer: DatagramProtectionTests.client)

        init() throws {
            let answer = try #require(try service.receive(client.offer(), udpIdentifier: 7))
            #expect(try client.receive(answer, udpIdentifier: 7) == nil)
        }
    }

    private static func seal(_ text: String, by end: DatagramProtection) throws -> [UInt8] {
        try Array(text.utf8).withUnsafeBytes { Array(try #require(end.seal($0))) }
    }

    private static func open(
        _ datagram: [UInt8], by end: DatagramProtection, second: UInt64 = 1
    ) -> (text: String, isNewest: Bool)? {
        datagram.withUnsafeBytes { bytes in
            end.open(bytes, second: { second }).map { (String(decoding: $0.content, as: UTF8.self), $0.isNewest) }
        }
    }

    @Test
    func bothDirectionsAreSealedWithKeysOfTheirOwn() throws {
        let ends = try Ends()
        let up = try Self.seal("up", by: ends.client)
        #expect(up.count == 2 + SealedDatagram.overhead)
        #expect(up[0] == 0xF4 && up[1] == 7)
        // A datagram that is sent back to where it came from.
        #expect(Self.open(up, by: ends.client) == nil)
        #expect(Self.open(up, by: ends.service)?.text == "up")
        // The same again.
        #expect(Self.open(up, by: ends.service) == nil)
        #expect(Self.open(try Self.seal("down", by: ends.service), by: ends.client)?.text == "down")
    }

    @Test
    func aDelayedDatagramIsOpenedAndSaidToBeOlder() throws {
        let ends = try Ends()
        let first = try Self.seal("first", by: ends.client)
        let second = try Self.seal("second", by: ends.client)
        #expect(Self.open(second, by: ends.service)?.isNewest == true)
        #expect(Self.open(first, by: ends.service)?.isNewest == false)
    }

    @Test
    func keysAreThoseOfOneConnection() throws {
        let (one, other) = (try Ends(), try Ends())
        #expect(Self.open(try Self.seal("value", by: one.client), by: other.service) == nil)
    }

    /// Somebody who passes on the secrets of two connections of his own gets other keys.
    @Test
    func keysAreBoundToBothIdentities() throws {
        let client = DatagramProtection(isService: false, own: Self.client, peer: Fingerprint(publicKey: [3]))
        let service = DatagramProtection(isService: true, own: Self.service, peer: Self.client)
        let answer = try #require(try service.receive(client.offer(), udpIdentifier: 7))
        _ = try client.receive(answer, udpIdentifier: 7)
        #expect(Self.open(try Self.seal("value", by: client), by: service) == nil)
    }

    @Test
    func oneSecretOfEachEndIsAccepted() throws {
        let ends = try Ends()
        let another = DatagramProtection(isService: false, own: Self.client, peer: Self.service).offer()
        #expect(throws: DatagramProtection.Violation.repeated) {
            try ends.service.receive(another, udpIdentifier: 7)
        }
        #expect(throws: DatagramProtection.Violation.repeated) {
            try ends.client.receive(another, udpIdentifier: 7)
        }
        #expect(Self.open(try Self.seal("still", by: ends.client), by: ends.service)?.text == "still")
    }

    @Test
    func aSecretOfAnotherFormIsRefused() {
        for secret in [[], [1], [UInt8](repeating: 1, count: 32), [2] + [UInt8](repeating: 0, count: 32)] {
            let service = DatagramProtection(isService: true, own: Self.service, peer: Self.client)
            #expect(throws: DatagramProtection.Violation.malformed) { try service.receive(secret, udpIdentifier: 7) }
            #expect(!service.isOpen)
        }
        // A service's secret that the client did not ask for.
        let client = DatagramProtection(isService: false, own: Self.client, peer: Self.service)
        #expect(throws: DatagramProtection.Violation.malformed) {
            try client.receive([1] + [UInt8](repeating: 0, count: 32), udpIdentifier: 7)
        }
    }

    @Test
    func withoutKeysNothingIsSealedOrOpened() throws {
        let end = DatagramProtection(isService: true, own: Self.service, peer: Self.client)
        [UInt8]("x".utf8).withUnsafeBytes { #expect(end.seal($0) == nil) }
        #expect(Self.open(try Self.seal("x", by: try Ends().client), by: end) == nil)
    }

    /// As many bytes of forgeries as are tried in a second.
    private static func exhaust(_ end: DatagramProtection, _ forged: [UInt8], within others: OpeningBudget? = nil) {
        let count = OpeningBudget.byteCountPerSecond / (forged.count + OpeningBudget.datagramCost)
        let before = end.failureCount
        forged.withUnsafeBytes { bytes in
            for _ in 0..<count + 100 { #expect(end.open(bytes, within: others, second: { 1 }) == nil) }
        }
        #expect(end.failureCount - before == count)
    }

    @Test(arguments: [1, 5000])
    func forgeriesAreTriedUpToALimitOfBytesEachSecond(_ length: Int) throws {
        let ends = try Ends()
        let text = String(repeating: "v", count: length)
        let sealed = try Self.seal(text, by: ends.client)
        var forged = try Self.seal(text, by: ends.client)
        forged[20] ^= 1
        Self.exhaust(ends.service, forged)
        #expect(Self.open(sealed, by: ends.service, second: 1) == nil)
        #expect(Self.open(sealed, by: ends.service, second: 2)?.text == text)
        #expect(!ends.service.isExhausted)
    }

    @Test
    func forgeriesFromElsewhereHaveABudgetThatAllConnectionsShare() throws {
        let (ends, other) = (try Ends(), try Ends())
        let others = OpeningBudget()
        let sealed = try Self.seal("value", by: ends.client)
        var forged = try Self.seal("value", by: ends.client)
        forged[20] ^= 1
        Self.exhaust(ends.service, forged, within: others)
        try Self.seal("value", by: other.client).withUnsafeBytes { bytes in
            #expect(other.service.open(bytes, within: others, second: { 1 }) == nil)
        }
        #expect(Self.open(sealed, by: ends.service, second: 1)?.text == "value")
    }

    @Test
    func whatWasReceivedBeforeOrCannotComeYetIsNotTried() throws {
        let ends = try Ends()
        let sealed = try Self.seal("value", by: ends.client)
        #expect(Self.open(sealed, by: ends.service) != nil)
        let zero = sealed[..<2] + [UInt8](repeating: 0, count: 6) + sealed[8...]
        let far = sealed[..<2] + [UInt8](repeating: 0xFF, count: 6) + sealed[8...]
        for datagram in [sealed, Array(zero), Array(far), Array(sealed[..<24])] {
            #expect(Self.open(datagram, by: ends.service) == nil)
        }
        #expect(ends.service.failureCount == 0)
    }
}
