import Elemental
internal import NIOCore
internal import Support

/// The surfaces that are sent values: those that sent something recently, and those that the user named.
/// It belongs to the bridge's event loop.
final class Surfaces {
    /// Called when a surface is told of values from now on.
    var onKnown: (Surface) -> Void = { _ in }

    /// Called when an element rests that a surface moved, if the surface was not told of a value meanwhile.
    var onRest: (Surface, Surface.ElementKey, Surface.Motion) -> Void = { _, _, _ in }

    /// Whether the service has not said yet what became of an element's value that a surface set.
    var isUnderWay: (Surface.ElementKey) -> Bool = { _ in false }

    /// Whether a program of a host is connected over TCP, so that the host has asked for values.
    var isConnected: (IPAddress) -> Bool = { _ in false }

    private let loop: any EventLoop
    private let networks: [IPNetwork]
    private var all: [Surface.ID: Surface] = [:]
    private var unflushed: [any Channel] = []

    /// The most surfaces of each ``Surface/Proof`` that are remembered besides those that were named: the one that was
    /// silent for longest goes. So those that somebody makes up do not drive out those that have set something.
    static let most = 32
    /// How long a surface that sends nothing is told of values.
    static let time = TimeAmount.minutes(2)

    /// - Parameter networks: those whose surfaces are heard besides this machine's.
    init(_ networks: [IPNetwork], on loop: any EventLoop) {
        self.networks = networks
        self.loop = loop
    }

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.count }

    var isFull: Bool { all.values.contains { !$0.channel.isWritable } }

    subscript(_ address: SocketAddress) -> Surface? { all[address] }

    /// Whether somebody may send, and be sent something.
    func admits(_ address: SocketAddress) -> Bool {
        guard let host = IPAddress(address) else { return false }
        return host.isLoopback || networks.contains { $0.contains(host) }
    }

    /// The surface at an address, from which so many bytes came.
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

    /// A surface has shown that it is there.
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

    /// A socket was opened in place of one that was closed.
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

    /// Writes an element's message to all surfaces that are known to be there, apart from those that move the element.
    /// ``flush()`` follows.
    func write(_ message: ByteBuffer, of key: Surface.ElementKey) {
        for surface in all.values where surface.proof != .none {
            if surface.motions.isEmpty || !surface.misses(key) { write(message, of: key, to: surface) }
        }
    }

    /// Writes an element's message to a surface, or has it told of the element later if it was sent as much as it may be.
    /// ``flush()`` follows.
    func write(_ message: ByteBuffer, of key: Surface.ElementKey, to surface: Surface) {
        guard mayWrite(message.readableBytes, to: surface) else { return postpone(key, of: surface) }
        surface.wasSent = true
        let envelope = AddressedEnvelope(remoteAddress: surface.address, data: message)
        surface.channel.pipeline.syncOperations.write(NIOAny(envelope), promise: nil)
        // There are two at most.
        if !unflushed.contains(where: { $0 === surface.channel }) { unflushed.append(surface.channel) }
    }

    private func mayWrite(_ byteCount: Int, to surface: Surface) -> Bool {
        surface.isCertain || surface.host.map(isConnected) == true
            || surface.allowance.take(byteCount, at: loop.now)
    }

    /// A surface is told the element's newest value later, as if it moved the element until then: the later the more there
    /// is to tell.
    private func postpone(_ key: Surface.ElementKey, of surface: Surface) {
        moves(surface, key, nil, until: loop.now + Surface.restTime * Int64(1 + surface.motions.count / 8))
        _ = surface.misses(key)
    }

    func flush() {
        for channel in unflushed { channel.flush() }
        unflushed.removeAll(keepingCapacity: true)
    }

    /// A surface moves an element: it and what was named on its host are not told of it until it rests.
    func noteMotion(of key: Surface.ElementKey, to value: ElementValue, by mover: Surface) {
        moves(mover, key, value, until: loop.now + Surface.restTime)
        for surface in all.values where surface.isNamed && surface !== mover {
            if surface.host == mover.host { moves(surface, key, nil, until: loop.now + Surface.restTime) }
        }
    }

    /// Whether a surface of another machine moves an element. What else runs there is the same surface, very likely.
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
            // What the element was before its value arrives would move the fader back.
            if isUnderWay(key) { return wait(for: key, of: surface, until: now + Surface.answerTime) }
            surface.motions[key] = nil
            if motion.hasMissed, all[surface.address] === surface { onRest(surface, key, motion) }
        }
    }
}
