import ElementalWire

/// Protects the datagrams of one encrypted connection: exchanges secrets over the connection, seals outgoing datagrams
/// and opens received ones. It belongs to the connection's event loop.
///
/// Each end sends one secret, and both derive the keys from the two. The keys do not change within a connection.
package final class DatagramProtection {
    /// The reason why a received secret ends the connection.
    package enum Violation: Error, Sendable {
        /// The message is not a secret of this version.
        case malformed
        /// It is the second secret.
        case repeated
    }

    private static let epoch: UInt8 = 1
    /// The number of forged datagrams after which the keys are exhausted (draft-irtf-cfrg-aead-limits).
    static let maximumFailureCount: UInt64 = 1 << 32

    private enum Phase {
        case idle
        /// This end's secret was sent.
        case offered(secret: [UInt8])
        case open
    }

    private let isService: Bool
    private let own: Fingerprint
    private let peer: Fingerprint
    private var phase = Phase.idle
    private var hasReceived = false
    private var sealer: DatagramSealer?
    private var opener: DatagramOpener?
    /// The memory for the datagram that is being sealed, and for the one being opened.
    private let sealed = Scratch()
    private let opened = Scratch()
    /// The budget for datagrams from the peer's address.
    private let budget = OpeningBudget()
    /// The number of forged datagrams that were tried.
    package private(set) var failureCount: UInt64 = 0

    /// - Parameters:
    ///   - isService: whether this end is the service.
    ///   - own: this end's fingerprint.
    ///   - peer: the peer's fingerprint, as TLS has proved it.
    package init(isService: Bool, own: Fingerprint, peer: Fingerprint) {
        self.isService = isService
        self.own = own
        self.peer = peer
    }

    /// Whether both secrets are known.
    package var isOpen: Bool {
        if case .open = phase { return true }
        return false
    }

    /// Whether the keys are exhausted, so that the connection has to end.
    package var isExhausted: Bool { failureCount >= Self.maximumFailureCount }

    /// Takes the first step of a client.
    ///
    /// - Returns: the client's secret, to be sent over the connection.
    package func offer(randomBytes: (Int) -> [UInt8] = Primitives.randomBytes) -> [UInt8] {
        let secret = randomBytes(32)
        phase = .offered(secret: secret)
        return [Self.epoch] + secret
    }

    /// Handles the peer's secret.
    ///
    /// - Parameter udpIdentifier: the connection's UDP identifier, 1 to 254.
    /// - Returns: a service's own secret, to be sent over the connection; `nil` for a client.
    /// - Throws: ``Violation``
    package func receive(
        _ message: [UInt8], udpIdentifier: UInt8, randomBytes: (Int) -> [UInt8] = Primitives.randomBytes
    ) throws(Violation) -> [UInt8]? {
        guard !hasReceived else { throw .repeated }
        guard message.count == SystemElement.datagramSecretByteCount, message[0] == Self.epoch else { throw .malformed }
        var answer: [UInt8]?
        if isService { answer = offer(randomBytes: randomBytes) }
        guard case .offered(let secret) = phase else { throw .malformed }
        hasReceived = true
        let received = Array(message.dropFirst())
        let keys = DatagramKeys(
            clientSecret: isService ? received : secret, serviceSecret: isService ? secret : received,
            client: isService ? peer : own, service: isService ? own : peer)
        sealer = DatagramSealer(key: isService ? keys.toClient : keys.toService, udpIdentifier: udpIdentifier)
        opener = DatagramOpener(key: isService ? keys.toService : keys.toClient, udpIdentifier: udpIdentifier)
        phase = .open
        return answer
    }

    /// Seals a datagram. The bytes are valid until the next call.
    ///
    /// - Returns: `nil` if there are no keys, or no counters are left.
    package func seal(_ datagram: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let target = sealed.bytes(datagram.count + SealedDatagram.overhead)
        guard sealer?.seal(datagram, into: target) == true else { return nil }
        return UnsafeRawBufferPointer(target)
    }

    /// Opens a sealed datagram. The bytes are valid until the next call.
    ///
    /// - Parameters:
    ///   - others: the budget shared by all addresses except the peer's; pass it if the datagram comes from one of
    ///     these.
    ///   - second: the current second of a monotonic clock.
    /// - Returns: the plaintext, and whether no newer datagram was opened before it; `nil` if the peer has not sealed
    ///   it, or it was received before.
    package func open(
        _ datagram: UnsafeRawBufferPointer, within others: OpeningBudget? = nil, second: () -> UInt64
    ) -> (content: UnsafeRawBufferPointer, isNewest: Bool)? {
        // A replayed datagram, or one with an impossible counter, costs only a look at its header.
        guard case .success? = opener?.check(datagram) else { return nil }
        let budget = others ?? budget
        guard budget.allows(datagram.count, second) else { return nil }
        let copy = opened.bytes(datagram.count)
        copy.copyMemory(from: datagram)
        switch opener?.open(copy) {
        case .success(let result): return result
        case .failure(.forged):
            failureCount += 1
            budget.spend(datagram.count, second)
        case .failure, nil: break
        }
        return nil
    }
}

/// Memory that is reused for every datagram and grows to the largest.
private final class Scratch {
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The size of a sealed batch of datagrams.
    private static let firstByteCount = 1536

    func bytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
        if memory.count < count {
            memory.deallocate()
            memory = .allocate(byteCount: max(count, Self.firstByteCount), alignment: 16)
        }
        return UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
    }

    deinit { memory.deallocate() }
}
