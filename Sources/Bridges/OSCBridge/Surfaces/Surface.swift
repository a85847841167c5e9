import Elemental
internal import NIOCore
internal import Support

/// Somebody who is sent values: it sent something lately, or was named. It belongs to the bridge's event loop.
final class Surface {
    typealias ID = SocketAddress

    struct ElementKey: Hashable {
        let service: UInt64
        let id: Int8
    }

    /// An element that the surface moves. It is not told of it until it rests.
    struct Motion {
        /// What it sent last; `nil` if another socket of its host sent it.
        var value: ElementValue?
        /// When it will have rested.
        var end: NIODeadline
        /// Whether there was something to tell.
        var hasMissed = false
    }

    /// How far it is known that somebody is at its address, which anybody can make up.
    enum Proof: Int {
        /// One datagram came. It is answered, and told of nothing else.
        case none
        /// Another one came after it was sent something.
        case answered
        /// It has set an element, or is on this machine.
        case set
    }

    /// How long after its last message a surface still moves an element.
    static let restTime = TimeAmount.milliseconds(400)
    /// How much longer it takes to rest while the service has not answered.
    static let answerTime = TimeAmount.milliseconds(100)
    /// The sender's address of a datagram may be made up. An address that only sent is sent this many times the bytes that
    /// came from it, and this many bytes a second.
    static let multiple = 16
    static let bytesPerSecond = 1024
    private static let mostBytes = 64 << 10

    /// No more elements are taken to be moving at the same time.
    static let mostMotions = 256

    let address: SocketAddress
    /// Where it runs; `nil` if that has no address.
    let host: IPAddress?
    var channel: any Channel
    /// Whether it was named, and is never forgotten.
    let isNamed: Bool
    var lastHeard: NIODeadline
    var proof: Proof
    var wasSent = false
    /// The bytes that it may be sent while nothing but datagrams has come from its address.
    var allowance: TokenBucket
    var motions: [ElementKey: Motion] = [:]
    var wasToldInvalid = false
    var wasToldUnknown = false

    init(_ address: SocketAddress, _ channel: any Channel, isNamed: Bool, at now: NIODeadline) {
        self.address = address
        host = IPAddress(address)
        self.channel = channel
        self.isNamed = isNamed
        lastHeard = now
        allowance = TokenBucket(capacity: Self.mostBytes, perSecond: Double(Self.bytesPerSecond), first: 0, at: now)
        proof = isNamed || host?.isLoopback == true ? .set : .none
    }

    var name: String { address.text }
    /// Whether nobody can have made its address up.
    var isCertain: Bool { isNamed || host?.isLoopback == true }

    /// - Returns: whether the surface moves the element; then it is told of it when the element rests.
    func misses(_ key: ElementKey) -> Bool { (motions[key]?.hasMissed = true) != nil }
}
