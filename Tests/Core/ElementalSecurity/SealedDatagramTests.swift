import Testing

@testable import ElementalSecurity

struct SealedDatagramTests {
    private static let key = [UInt8](0..<32)

    private static func sealed(_ content: [UInt8], by sealer: inout DatagramSealer) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: content.count + SealedDatagram.overhead)
        let hasRoom = target.withUnsafeMutableBytes { target in
            content.withUnsafeBytes { sealer.seal($0, into: target) }
        }
        return hasRoom ? target : []
    }

    private static func opened(_ datagram: [UInt8], by opener: inout DatagramOpener) -> Result<
        [UInt8], DatagramOpener.Refusal
    > {
        var datagram = datagram
        return datagram.withUnsafeMutableBytes { bytes in opener.open(bytes).map { Array($0.content) } }
    }

    /// Made with Python's `cryptography`: the key 0…31, identifier 7, the fifth datagram.
    @Test
    func anotherImplementationSealsTheSameWay() {
        var sealer = DatagramSealer(key: Self.key, udpIdentifier: 7)
        let content = Array("motion at 120 Hz".utf8)
        for _ in 0..<4 { _ = Self.sealed(content, by: &sealer) }
        let datagram = Self.sealed(content, by: &sealer)
        #expect(
            datagram == bytes("f4070500000000004e67e2632a4b675fff8a087a159578d9de235af4841a6e6803cc1ce513eb0dfc"))
        var opener = DatagramOpener(key: Self.key, udpIdentifier: 7)
        #expect(Self.opened(datagram, by: &opener) == .success(content))
    }

    /// Made with Python's `cryptography` and `hashlib`.
    @Test
    func anotherImplementationDerivesTheSameKeys() {
        let keys = DatagramKeys(
            clientSecret: [UInt8](repeating: 1, count: 32), serviceSecret: [UInt8](repeating: 2, count: 32),
            client: Fingerprint(publicKey: Array("client".utf8)), service: Fingerprint(publicKey: Array("service".utf8))
        )
        #expect(keys.toService == bytes("4b944e0b25fb6616a57870f3250b36c0327fc5d319601811cafcb1536110c1ef"))
        #expect(keys.toClient == bytes("b5f0e0843478453732cd284034ea23187b468cde78e0dbfdc4c12a02df9cb37e"))
    }

    @Test
    func aDatagramIsTakenOnce() {
        var sealer = DatagramSealer(key: Self.key, udpIdentifier: 1)
        var opener = DatagramOpener(key: Self.key, udpIdentifier: 1)
        let datagrams = (0..<5).map { Self.sealed([UInt8($0)], by: &sealer) }
        for datagram in datagrams.reversed() { #expect((try? Self.opened(datagram, by: &opener).get()) != nil) }
        for datagram in datagrams { #expect(Self.opened(datagram, by: &opener) == .failure(.replayed)) }
    }

    /// Each byte counts, the header's too, and what is forged marks no counter.
    @Test
    func everyBitCounts() {
        var sealer = DatagramSealer(key: Self.key, udpIdentifier: 1)
        var opener = DatagramOpener(key: Self.key, udpIdentifier: 1)
        let datagram = Self.sealed(Array("value".utf8), by: &sealer)
        for bit in 0..<datagram.count * 8 {
            var changed = datagram
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            // The counter, 1, becomes 0 or more than can have been sent.
            let isImpossible = bit == 16 || (56..<64).contains(bit)
            let expected: DatagramOpener.Refusal = bit < 16 ? .malformed : isImpossible ? .impossible : .forged
            #expect(Self.opened(changed, by: &opener) == .failure(expected), "bit \(bit)")
        }
        for count in datagram.indices {
            #expect((try? Self.opened(Array(datagram[..<count]), by: &opener).get()) == nil, "\(count) bytes")
        }
        #expect(Self.opened(datagram, by: &opener) == .success(Array("value".utf8)))
    }

    @Test
    func aDatagramOfAnotherKeyOrDirectionIsRefused() {
        var sealer = DatagramSealer(key: Self.key, udpIdentifier: 1)
        let datagram = Self.sealed([1], by: &sealer)
        var stranger = DatagramOpener(key: Self.key.reversed(), udpIdentifier: 1)
        #expect(Self.opened(datagram, by: &stranger) == .failure(.forged))
        var other = DatagramOpener(key: Self.key, udpIdentifier: 2)
        #expect(Self.opened(datagram, by: &other) == .failure(.malformed))
    }

    @Test
    func shortDatagramsAreMalformed() {
        var opener = DatagramOpener(key: Self.key, udpIdentifier: 1)
        for count in 0...SealedDatagram.overhead {
            let datagram = Array(([SealedDatagram.mark, 1] + [UInt8](repeating: 0, count: 30)).prefix(count))
            #expect(Self.opened(datagram, by: &opener) == .failure(.malformed), "\(count) bytes")
        }
    }

    @Test
    func onlyTheNewestSaysSo() throws {
        var sealer = DatagramSealer(key: Self.key, udpIdentifier: 1)
        var opener = DatagramOpener(key: Self.key, udpIdentifier: 1)
        var datagrams = (0..<3).map { _ in Self.sealed([1], by: &sealer) }
        func isNewest(_ index: Int) throws -> Bool {
            try datagrams[index].withUnsafeMutableBytes { try opener.open($0).get().isNewest }
        }
        #expect(try isNewest(1))
        #expect(try !isNewest(0))
        #expect(try isNewest(2))
    }
}
