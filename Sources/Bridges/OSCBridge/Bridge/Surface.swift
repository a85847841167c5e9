internal import Bridging
import Elemental
internal import NIOCore

/// Somebody who is sent values: it sent something lately, or was named. It belongs to the bridge's event loop.
final class Surface {
    typealias ID = SocketAddress

    /// An element of a service.
    struct ElementKey: Hashable {
        let service: ServiceKey
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

    /// How long after its last message a surface still moves an element.
    static let restTime = TimeAmount.milliseconds(400)
    /// No more elements are taken to be moving at the same time.
    static let mostMotions = 256

    let address: SocketAddress
    let channel: any Channel
    /// Whether it was named, and is never forgotten.
    let isNamed: Bool
    var lastHeard: NIODeadline
    var motions: [ElementKey: Motion] = [:]
    var wasToldInvalid = false
    var wasToldUnknown = false

    init(_ address: SocketAddress, _ channel: any Channel, isNamed: Bool, at now: NIODeadline) {
        self.address = address
        self.channel = channel
        self.isNamed = isNamed
        lastHeard = now
    }

    var name: String { address.oscName }
}

extension SocketAddress {
    /// `ADDRESS:PORT`.
    var oscName: String {
        let host = ipAddress ?? "?"
        return (host.contains(":") ? "[\(host)]" : host) + ":\(port ?? 0)"
    }
}

/// What may be spent in a time: it fills up as time goes by.
struct Allowance {
    private let most: Double
    private let perSecond: Double
    private var left: Double
    private var last: NIODeadline

    init(_ most: Int, perSecond: Int, at now: NIODeadline) {
        self.most = Double(most)
        self.perSecond = Double(perSecond)
        left = Double(most)
        last = now
    }

    /// Whether so much may be spent, which it then is.
    mutating func take(_ amount: Int, at now: NIODeadline) -> Bool {
        if now > last {
            left = min(most, left + Double((now - last).nanoseconds) / 1e9 * perSecond)
            last = now
        }
        guard left >= Double(amount) else { return false }
        left -= Double(amount)
        return true
    }
}
