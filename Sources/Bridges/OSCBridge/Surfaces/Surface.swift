import Elemental
internal import NIOCore
internal import Support

/// A receiver of values: it sent something recently, or the user named it. It belongs to the bridge's event loop.
final class Surface {
    typealias ID = SocketAddress

    struct ElementKey: Hashable {
        let service: UInt64
        let id: Int8
    }

    /// An element that the surface moves. It does not receive the element's values until the movement ends.
    struct Motion {
        /// The value that it sent last; `nil` if another socket of its host sent it.
        var value: ElementValue?
        /// When the movement ends unless another value comes.
        var end: NIODeadline
        /// Whether it missed a value.
        var hasMissed = false
    }

    /// How certain it is that the surface is at its address, since the sender of a datagram can be forged.
    enum Proof: Int {
        /// One datagram came. It is answered, but the surface receives nothing else.
        case none
        /// Another one came after the surface was sent something.
        case answered
        /// It has set an element, was named by the user, or is on this machine.
        case set
    }

    /// How long after the last message a movement ends.
    static let restTime = TimeAmount.milliseconds(400)
    /// How much longer a movement lasts while the service has not answered.
    static let answerTime = TimeAmount.milliseconds(100)
    /// Limits what is sent to an address that may be forged: this many times the bytes that came from it, and in
    /// addition ``bytesPerSecond``.
    static let multiple = 16
    static let bytesPerSecond = 1024
    private static let mostBytes = 64 << 10

    /// The maximum number of elements that a surface moves at the same time.
    static let mostMotions = 256

    let address: SocketAddress
    /// The surface's host; `nil` if the address has none.
    let host: IPAddress?
    var channel: any Channel
    /// Whether the user named it. It is never evicted then.
    let isNamed: Bool
    var lastHeard: NIODeadline
    var proof: Proof
    var wasSent = false
    /// The bytes that it may be sent while its address may be forged.
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
    /// Whether its address cannot be forged.
    var isCertain: Bool { isNamed || host?.isLoopback == true }

    /// - Returns: whether the surface moves the element. It then receives the value after the movement.
    func misses(_ key: ElementKey) -> Bool { (motions[key]?.hasMissed = true) != nil }
}
