internal import Bridging
import Elemental
internal import ElementalWire
internal import NIOCore
internal import Support
internal import WebServer

/// The services on one side, the surfaces on the other. It belongs to one event loop, on which everything happens.
final class BridgeCore {
    let loop: any EventLoop
    let options: OSCBridgeOptions
    let emit: (OSCBridgeEvent) -> Void
    private let networks: [IPNetwork]

    private(set) var services: [ServiceKey: BridgedService] = [:]
    /// Services by the first level of their addresses.
    private(set) var levels: [String: BridgedService] = [:]
    /// Elements by their addresses.
    var addresses: [String: (service: BridgedService, position: Int)] = [:]

    private(set) var surfaces: [Surface.ID: Surface] = [:]
    let listeners = QueryListeners()
    /// Services with values for surfaces.
    private var waiting: [BridgedService] = []
    private let rounds: Rounds
    private var unflushed: [ObjectIdentifier: any Channel] = [:]
    private var hasEnded = false

    /// Steps of matching patterns. An address without a pattern costs nothing of it.
    var matching: Allowance
    /// Messages of bundles that are carried out later, and their timers.
    var timedCount = 0
    var nextOverload = NIODeadline.uptimeNanoseconds(0)

    /// The most surfaces that are remembered besides those that were named: the one that was silent for longest goes.
    static let mostSurfaces = 32
    /// How long a surface that sends nothing is told of values.
    static let surfaceTime = TimeAmount.minutes(2)
    /// How long values for a service wait that had no room for them.
    private static let retryTime = TimeAmount.milliseconds(2)
    /// The largest payload of a datagram over IPv4.
    static let longestDatagram = 65_507
    /// The most values of a round: others have their turn on the event loop before the next one.
    private static let mostInRound = 1024

    init(_ options: OSCBridgeOptions, on loop: any EventLoop, emit: @escaping (OSCBridgeEvent) -> Void) {
        self.loop = loop
        self.options = options
        self.emit = emit
        networks = options.allowedNetworks.compactMap { IPNetwork($0) }
        matching = Allowance(4_000_000, perSecond: 4_000_000, at: .now())
        rounds = Rounds(every: .zero, on: loop)
        rounds.onRound = { [weak self] in self?.makeRound() }
    }

    /// Nothing is sent any more.
    func end() {
        hasEnded = true
        rounds.end()
        services = [:]
        levels = [:]
        addresses = [:]
        surfaces = [:]
    }

    // MARK: - Services

    /// Takes what happens to the services.
    func take(_ event: SessionEvent) {
        guard !hasEnded else { return }
        switch event {
        case .state(let key, .connected(let device, let catalogue)): connected(key, device, catalogue)
        case .state(let key, .away), .state(let key, .refused): services[key]?.disconnect()
        case .state(let key, .gone): gone(key)
        case .value(let key, let element, let value):
            guard let service = services[key], let position = service.position(of: element) else { return }
            // The service has said what became of what it was sent.
            service.sent.answered(element)
            show(value, at: position, service)
        case .refusal(let key, let element, let refusal):
            guard let service = services[key], let position = service.position(of: element) else { return }
            service.sent.answered(element)
            refuse(refusal.description, position, service)
        case .state(_, .connecting), .place, .roundTrip, .browsingFailed, .browsingWorks, .tooMany: break
        }
    }

    private func connected(_ key: ServiceKey, _ device: ElementalDevice, _ catalogue: ElementCatalogue) {
        let service = services[key] ?? add(key)
        let earlier = service.elements.map(\.address)
        guard service.connect(device, catalogue) else { return }
        for address in earlier { addresses[address] = nil }
        for (position, element) in service.elements.enumerated() { addresses[element.address] = (service, position) }
        let current = Set(service.elements.map(\.address))
        for address in earlier where !current.contains(address) { listeners.tell(.removed, address) }
        listeners.forget(earlier.filter { !current.contains($0) })
        if earlier.isEmpty {
            listeners.tell(.added, "/\(service.level)")
        } else {
            for address in current.subtracting(earlier) { listeners.tell(.added, address) }
        }
        emit(.shown(service: key.service, name: key.name, prefix: "/\(service.level)/"))
    }

    private func add(_ key: ServiceKey) -> BridgedService {
        var level = AddressLevel.level(key.name)
        if levels[level] != nil { level = AddressLevel.level(key.name, ofService: key.service) }
        let service = BridgedService(key, level: level, on: loop)
        service.sent.onHandled = { [weak self, weak service] element, value, failure in
            guard let self, let service, let position = service.position(of: element) else { return }
            if let failure {
                self.refuse("the service did not confirm it: \(failure)", position, service)
            } else {
                self.show(value, at: position, service)
            }
        }
        services[key] = service
        levels[level] = service
        return service
    }

    private func gone(_ key: ServiceKey) {
        guard let service = services.removeValue(forKey: key) else { return }
        service.disconnect()
        levels[service.level] = nil
        for element in service.elements { addresses[element.address] = nil }
        listeners.tell(.removed, "/\(service.level)")
        listeners.forget(service.elements.map(\.address))
    }

    // MARK: - Values for surfaces

    /// A value is the element's newest, and passes to the surfaces.
    func show(_ value: ElementValue, at position: Int, _ service: BridgedService) {
        let element = service.elements[position]
        guard element.reads else { return }
        service[position].newest = value
        guard service.outbound.add(value, of: element.definition) else {
            return tellOnce("dropped", position, service) { .dropped($0, element.definition, .toSurfaces) }
        }
        guard !service.isWaiting else { return }
        service.isWaiting = true
        waiting.append(service)
        rounds.ask()
    }

    /// Whether a socket has no room.
    private var isFull: Bool { surfaces.values.contains { !$0.channel.isWritable } }

    /// A socket has room again.
    func socketIsWritable() {
        if !waiting.isEmpty { rounds.ask() }
    }

    private func makeRound() {
        forgetSurfaces(at: .now())
        let now = ContinuousClock.now
        var count = 0
        var remaining: [BridgedService] = []
        for service in waiting {
            var isEmpty = false
            while count < Self.mostInRound, !isFull {
                guard case .send(let element, let value) = service.outbound.next(at: now) else {
                    isEmpty = true
                    break
                }
                count += 1
                if let position = service.position(of: element) { deliver(value, position, service) }
            }
            if isEmpty { service.isWaiting = false } else { remaining.append(service) }
        }
        waiting = remaining
        flush()
        if !remaining.isEmpty, !isFull { rounds.ask() }
    }

    private func deliver(_ value: ElementValue, _ position: Int, _ service: BridgedService) {
        let element = service.elements[position]
        guard !surfaces.isEmpty || listeners.listens(to: element.address) else { return }
        guard let bytes = encode(value, position, service) else { return }
        let key = Surface.ElementKey(service: service.key, id: element.definition.id)
        for surface in surfaces.values {
            if surface.motions[key] != nil { surface.motions[key]?.hasMissed = true } else { write(bytes, to: surface) }
        }
        listeners.tell(element.address, bytes)
        emit(.toSurfaces(service.place(position), element.definition, value))
    }

    /// The message that tells an element's value; `nil` if OSC cannot.
    func encode(_ value: ElementValue, _ position: Int, _ service: BridgedService) -> ByteBuffer? {
        let element = service.elements[position]
        func refuse(_ reason: String) -> ByteBuffer? {
            tellOnce(reason, position, service) { .notPassed($0, element.definition, .toSurfaces, reason: reason) }
            return nil
        }
        guard value.wireByteCount < Self.longestDatagram else {
            return refuse("the value is too long for a datagram")
        }
        do throws(OSCRefusal) {
            var bytes = ByteBuffer()
            bytes.writeOSC(OSCMessage(element.address, try element.definition.oscArguments(value)))
            guard bytes.readableBytes <= Self.longestDatagram else {
                return refuse("the value is too long for a datagram")
            }
            return bytes
        } catch {
            return refuse(error.reason)
        }
    }

    private func write(_ bytes: ByteBuffer, to surface: Surface) {
        let envelope = AddressedEnvelope(remoteAddress: surface.address, data: bytes)
        surface.channel.pipeline.syncOperations.write(NIOAny(envelope), promise: nil)
        unflushed[ObjectIdentifier(surface.channel)] = surface.channel
    }

    private func flush() {
        for channel in unflushed.values { channel.flush() }
        unflushed.removeAll(keepingCapacity: true)
    }

    /// Tells a surface the value that an element has.
    func answer(_ surface: Surface, _ position: Int, _ service: BridgedService) {
        guard service.elements[position].reads, let newest = service[position].newest,
            surface.channel.isWritable, let bytes = encode(newest, position, service)
        else { return }
        write(bytes, to: surface)
        flush()
    }

    // MARK: - Surfaces

    /// Whether somebody may send, and be sent something.
    func admits(_ address: SocketAddress) -> Bool {
        guard let host = IPAddress(address) else { return false }
        return host.isLoopback || networks.contains { $0.contains(host) }
    }

    /// The surface at an address, which is taken to be there from now on.
    func surface(at address: SocketAddress, _ channel: any Channel) -> Surface {
        let now = NIODeadline.now()
        if let surface = surfaces[address] {
            surface.lastHeard = now
            return surface
        }
        let unnamed = surfaces.values.lazy.filter { !$0.isNamed }
        if unnamed.count >= Self.mostSurfaces, let oldest = unnamed.min(by: { $0.lastHeard < $1.lastHeard }) {
            surfaces[oldest.address] = nil
        }
        let surface = Surface(address, channel, isNamed: false, at: now)
        surfaces[address] = surface
        emit(.surface(surface.name))
        return surface
    }

    /// Adds a surface that was named.
    func addFeedback(to address: SocketAddress, _ channel: any Channel) {
        surfaces[address] = Surface(address, channel, isNamed: true, at: .now())
    }

    private func forgetSurfaces(at now: NIODeadline) {
        for surface in surfaces.values where !surface.isNamed && surface.lastHeard + Self.surfaceTime < now {
            surfaces[surface.address] = nil
        }
    }

    /// A surface moves an element: it and what was named on its host are not told of it until it rests.
    private func noteMotion(_ value: ElementValue, _ key: Surface.ElementKey, of mover: Surface) {
        moves(mover, key, value)
        for surface in surfaces.values where surface.isNamed && surface !== mover {
            if surface.address.ipAddress == mover.address.ipAddress { moves(surface, key, nil) }
        }
    }

    private func moves(_ surface: Surface, _ key: Surface.ElementKey, _ value: ElementValue?) {
        let end = NIODeadline.now() + Surface.restTime
        guard surface.motions[key] == nil else {
            surface.motions[key]?.value = value
            surface.motions[key]?.end = end
            return
        }
        guard surface.motions.count < Surface.mostMotions else { return }
        surface.motions[key] = Surface.Motion(value: value, end: end)
        wait(for: key, of: surface, until: end)
    }

    private func wait(for key: Surface.ElementKey, of surface: Surface, until end: NIODeadline) {
        loop.assumeIsolated().scheduleTask(deadline: end) { [weak self, weak surface] in
            guard let self, let surface, let motion = surface.motions[key] else { return }
            if motion.end > .now() { return self.wait(for: key, of: surface, until: motion.end) }
            surface.motions[key] = nil
            guard motion.hasMissed, self.surfaces[surface.address] === surface,
                let service = self.services[key.service],
                let position = service.elements.firstIndex(where: { $0.definition.id == key.id }),
                service[position].newest != motion.value
            else { return }
            self.answer(surface, position, service)
        }
    }

    // MARK: - Values for services

    /// A surface sets an element, or asks for its value.
    func set(_ position: Int, of service: BridgedService, _ arguments: [OSCArgument], from surface: Surface) {
        let element = service.elements[position]
        guard !arguments.isEmpty else { return answer(surface, position, service) }
        do throws(OSCRefusal) {
            guard options.setsElements else { throw OSCRefusal("this bridge only shows; --control lets surfaces set") }
            guard element.writes else { throw OSCRefusal("it can only be read") }
            guard service.device != nil else { throw OSCRefusal("the service is not connected") }
            let value = try element.definition.value(oscArguments: arguments)
            let key = Surface.ElementKey(service: service.key, id: element.definition.id)
            noteMotion(value, key, of: surface)
            guard service.inbound.add(value, of: element.definition) else {
                return tellOnce("dropped in", position, service) { .dropped($0, element.definition, .toDevice) }
            }
            send(service)
        } catch {
            refuse(error.reason, position, service)
            // What the element is, and not what the surface shows.
            answer(surface, position, service)
        }
    }

    private func refuse(_ reason: String, _ position: Int, _ service: BridgedService) {
        let element = service.elements[position].definition
        tellOnce(reason, position, service) { .notPassed($0, element, .toDevice, reason: reason) }
    }

    /// The most problems of an element that are told.
    private static let mostTold = 16

    /// A flood of one problem is told once, until the service is connected again.
    private func tellOnce(
        _ problem: String, _ position: Int, _ service: BridgedService,
        _ event: (OSCBridgeEvent.Place) -> OSCBridgeEvent
    ) {
        guard service[position].told.count < Self.mostTold, service[position].told.insert(problem).inserted else {
            return
        }
        emit(event(service.place(position)))
    }

    /// Sends a service what waits for it, as far as there is room.
    private func send(_ service: BridgedService) {
        guard !service.isRetrying, let device = service.device else { return }
        while case .send(let element, let value) = service.inbound.next(at: .now) {
            guard let position = service.position(of: element) else { continue }
            do throws(ElementalError) {
                try device.send(value, to: element)
            } catch {
                guard error.code == .queueFull else {
                    refuse(error.message, position, service)
                    continue
                }
                service.inbound.putBack(value, of: element)
                service.isRetrying = true
                loop.assumeIsolated().scheduleTask(in: Self.retryTime) { [weak self] in
                    service.isRetrying = false
                    self?.send(service)
                }
                return
            }
            service.sent.add(value, of: element)
            emit(.toDevice(service.place(position), element, value))
        }
        service.sent.confirm(by: device)
    }
}
