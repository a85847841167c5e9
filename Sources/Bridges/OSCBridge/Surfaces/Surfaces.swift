import Elemental
internal import NIOCore
internal import Support

/// The surfaces that receive values: those that sent something recently, and those that the user named. It belongs to
/// the bridge's event loop.
final class Surfaces {
    /// Called when a surface starts to receive values.
    var onKnown: (Surface) -> Void = { _ in }

    /// Called when a surface's movement of an element has ended and it missed a value in the meantime.
    var onRest: (Surface, Surface.ElementKey, Surface.Motion) -> Void = { _, _, _ in }

    /// Whether the service has not yet answered a surface's value of an element.
    var isUnderWay: (Surface.ElementKey) -> Bool = { _ in false }

    /// Whether a program of a host is connected over TCP, which proves that the host has asked for values.
    var isConnected: (IPAddress) -> Bool = { _ in false }

    private let loop: any EventLoop
    private let networks: [IPNetwork]
    private var all: [Surface.ID: Surface] = [:]
    private var unflushed: [any Channel] = []

    /// The maximum number of surfaces of each ``Surface/Proof``, not counting those that the user named. The one that
    /// has sent nothing for the longest time is evicted. Forged addresses therefore cannot evict surfaces that have set
    /// something.
    static let most = 32
    /// How long a surface receives values after its last message.
    static let time = TimeAmount.minutes(2)

    /// - Parameter networks: the accepted networks besides this machine.
    init(_ networks: [IPNetwork], on loop: any EventLoop) {
        self.networks = networks
        self.loop = loop
    }

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.count }

    var isFull: Bool { all.values.contains { !$0.channel.isWritable } }

    subscript(_ address: SocketAddress) -> Surface? { all[address] }

    /// Returns whether an address may send and receive.
    func admits(_ address: SocketAddress) -> Bool {
        guard let host = IPAddress(address) else { return false }
        return host.isLoopback || networks.contains { $0.contains(host) }
    }

    /// Returns the surface at an address, from which this many bytes came.
    func surface(at address: SocketAddress, _ channel: any Channel, byteCount: Int) -> Surface {
        if let surface = all[address] {
            surface.lastHeard = loop.now
            surface.allowance.add(Surface.multiple * byteCount)
            if surface.wasSent { note(.answered, of: surface) }
            return surface
        }
        let surface = Surface(address, channel, isNamed: false, at: loop.now)
        surface.allowance.add(Surface.multiple * byteCount)
        add(surface)
        if surface.proof != .none { onKnown(surface) }
        return surface
    }

    /// Raises the proof of a surface's address.
    func note(_ proof: Surface.Proof, of surface: Surface) {
        guard proof.rawValue > surface.proof.rawValue else { return }
        let isNew = surface.proof == .none
        all[surface.address] = nil
        surface.proof = proof
        add(surface)
        if isNew { onKnown(surface) }
    }

    private func add(_ surface: Surface) {
        let others = all.values.lazy.filter { !$0.isNamed && $0.proof == surface.proof }
        if others.count >= Self.most, let oldest = others.min(by: { $0.lastHeard < $1.lastHeard }) {
            all[oldest.address] = nil
        }
        all[surface.address] = surface
    }

    func addNamed(_ address: SocketAddress, _ channel: any Channel) {
        all[address] = Surface(address, channel, isNamed: true, at: loop.now)
    }

    /// Replaces a closed socket by a new one.
    func use(_ channel: any Channel) {
        for surface in all.values where surface.address.protocol == channel.localAddress?.protocol {
            surface.channel = channel
        }
    }

    func forgetSilent(at now: NIODeadline) {
        for surface in all.values where !surface.isNamed && surface.lastHeard + Self.time < now {
            all[surface.address] = nil
        }
    }

    func removeAll() { all = [:] }

    /// Writes an element's message to all surfaces whose address is confirmed, except those that move the element.
    /// ``flush()`` follows.
    func write(_ message: ByteBuffer, of key: Surface.ElementKey) {
        for surface in all.values where surface.proof != .none {
            if surface.motions.isEmpty || !surface.misses(key) { write(message, of: key, to: surface) }
        }
    }

    /// Writes an element's message to a surface, or postpones it if the surface's allowance is used up. ``flush()``
    /// follows.
    func write(_ message: ByteBuffer, of key: Surface.ElementKey, to surface: Surface) {
        guard mayWrite(message.readableBytes, to: surface) else { return postpone(key, of: surface) }
        surface.wasSent = true
        let envelope = AddressedEnvelope(remoteAddress: surface.address, data: message)
        surface.channel.pipeline.syncOperations.write(NIOAny(envelope), promise: nil)
        // There are at most two.
        if !unflushed.contains(where: { $0 === surface.channel }) { unflushed.append(surface.channel) }
    }

    private func mayWrite(_ byteCount: Int, to surface: Surface) -> Bool {
        surface.isCertain || surface.host.map(isConnected) == true
            || surface.allowance.take(byteCount, at: loop.now)
    }

    /// Sends the element's newest value later, as if the surface moved the element until then. The delay grows with the
    /// number of postponed elements.
    private func postpone(_ key: Surface.ElementKey, of surface: Surface) {
        moves(surface, key, nil, until: loop.now + Surface.restTime * Int64(1 + surface.motions.count / 8))
        _ = surface.misses(key)
    }

    func flush() {
        for channel in unflushed { channel.flush() }
        unflushed.removeAll(keepingCapacity: true)
    }

    /// Records that a surface moves an element. The surface, and those named on its host, do not receive its values
    /// meanwhile.
    func noteMotion(of key: Surface.ElementKey, to value: ElementValue, by mover: Surface) {
        moves(mover, key, value, until: loop.now + Surface.restTime)
        for surface in all.values where surface.isNamed && surface !== mover {
            if surface.host == mover.host { moves(surface, key, nil, until: loop.now + Surface.restTime) }
        }
    }

    /// Returns whether a surface on another machine moves an element. Other programs there very likely belong to the
    /// same surface.
    func isMoved(_ key: Surface.ElementKey, by host: IPAddress) -> Bool {
        !host.isLoopback && all.values.contains { $0.host == host && $0.motions[key] != nil }
    }

    private func moves(
        _ surface: Surface, _ key: Surface.ElementKey, _ value: ElementValue?, until end: NIODeadline
    ) {
        if let motion = surface.motions[key] {
            surface.motions[key] = Surface.Motion(value: value, end: end, hasMissed: motion.hasMissed)
            return
        }
        guard surface.motions.count < Surface.mostMotions else { return }
        surface.motions[key] = Surface.Motion(value: value, end: end)
        wait(for: key, of: surface, until: end)
    }

    private func wait(for key: Surface.ElementKey, of surface: Surface, until end: NIODeadline) {
        loop.assumeIsolated().scheduleTask(deadline: end) { [weak self, weak surface] in
            guard let self, let surface, let motion = surface.motions[key] else { return }
            let now = loop.now
            if motion.end > now { return wait(for: key, of: surface, until: motion.end) }
            // An older value, sent before the service has handled the surface's own, would move the fader back.
            if isUnderWay(key) { return wait(for: key, of: surface, until: now + Surface.answerTime) }
            surface.motions[key] = nil
            if motion.hasMissed, all[surface.address] === surface { onRest(surface, key, motion) }
        }
    }
}
