import Elemental
internal import ElementalFollowing
internal import ElementalWire
internal import NIOCore
internal import OSC
internal import Support

/// Connects the services to the surfaces. It belongs to one event loop, on which everything happens.
final class BridgeCore {
    let loop: any EventLoop
    let options: OSCBridgeOptions
    let emit: (OSCBridgeEvent) -> Void
    private(set) var services: [ServiceKey: BridgedService] = [:]
    /// Services by the first level of their addresses.
    private(set) var levels: [String: BridgedService] = [:]
    var addresses: [String: (service: BridgedService, position: Int)] = [:]

    let surfaces: Surfaces
    let listeners = QueryListeners()
    private let rounds: ValueRounds<OSCElement, OSCElement.Reading, OSCService>
    private var lastNumber: UInt64 = 0
    private var hasEnded = false

    /// Limits the steps of matching patterns. An address without a pattern costs nothing.
    var matching: TokenBucket
    /// The number of messages in waiting bundles.
    var timedCount = 0
    var timedByteCount = 0
    var nextOverload = NIODeadline.uptimeNanoseconds(0)

    /// The largest payload of a datagram over IPv4.
    static let longestDatagram = 65_507

    init(_ options: OSCBridgeOptions, on loop: any EventLoop, emit: @escaping (OSCBridgeEvent) -> Void) {
        self.loop = loop
        self.options = options
        self.emit = emit
        surfaces = Surfaces(options.allowedNetworks.compactMap { IPNetwork($0) }, on: loop)
        matching = TokenBucket(capacity: 4_000_000, perSecond: 4_000_000, at: loop.now)
        rounds = ValueRounds(every: .zero, on: loop)
        rounds.deliver = { [weak self] value, position, service in self?.deliver(value, position, service) }
        rounds.isFull = { [surfaces] in surfaces.isFull }
        rounds.willBegin = { [surfaces] in surfaces.forgetSilent(at: loop.now) }
        rounds.didEnd = { [surfaces] in surfaces.flush() }
        surfaces.onKnown = { [emit] in emit(.surface($0.name)) }
        surfaces.onRest = { [weak self] surface, key, motion in self?.rests(surface, key, motion) }
        surfaces.isConnected = { [listeners] in listeners.hasProgram(of: $0) }
        surfaces.isUnderWay = { [weak self] key in self?.isUnderWay(key) == true }
    }

    func end() {
        hasEnded = true
        rounds.end()
        services = [:]
        levels = [:]
        addresses = [:]
        surfaces.removeAll()
    }

    // MARK: - Services

    func take(_ event: FollowerEvent) {
        guard !hasEnded else { return }
        switch event {
        case .state(let key, .connected(let device, let catalogue)): connected(key, device, catalogue)
        case .state(let key, .away), .state(let key, .refused): services[key]?.disconnect()
        case .state(let key, .gone): gone(key)
        case .value(let key, let element, let value, _):
            guard let service = services[key], let position = service.answered(element) else { return }
            show(value, at: position, service)
        case .refusal(let key, let element, let refusal):
            guard let service = services[key], let position = service.answered(element) else { return }
            refuse(refusal, position, service)
        case .state(_, .connecting), .place, .history, .leftOut, .roundTrip, .browsingFailed, .browsingWorks, .tooMany:
            break
        }
    }

    private func connected(_ key: ServiceKey, _ device: ElementalDevice, _ catalogue: ElementCatalogue) {
        let service = services[key] ?? add(key)
        guard let earlier = service.connect(device, catalogue, names: options.names)?.map(\.address) else { return }
        for address in earlier { addresses[address] = nil }
        for (position, element) in service.elements.enumerated() { addresses[element.address] = (service, position) }
        let current = Set(service.elements.map(\.address))
        for address in earlier where !current.contains(address) { listeners.tell(.removed, address) }
        listeners.forget(earlier.filter { !current.contains($0) })
        if earlier.isEmpty {
            listeners.tell(.added, "/\(service.own.level)")
        } else {
            for address in current.subtracting(earlier) { listeners.tell(.added, address) }
        }
        emit(.shown(key, prefix: "/\(service.own.level)/"))
    }

    private func add(_ key: ServiceKey) -> BridgedService {
        var level = OSCAddressLevel.level(key.name)
        // An instance of another service has the same name. Adding `~:` and the service's name gives a level that no
        // name has.
        if levels[level] != nil { level += "~:" + OSCAddressLevel.level(key.service ?? "") }
        lastNumber += 1
        let service = BridgedService(
            key, OSCService(number: lastNumber, level: level), outbound: Lanes(interval: .zero, keeping: .bridged),
            on: loop)
        service.sent.onOutcome = { [weak self, weak service] element, outcome in
            guard let self, let service, let position = service.position(of: element) else { return }
            switch outcome {
            case .sent(let value): tell(.passed(value), position, isForService: true, service)
            case .handled(let value): show(value, at: position, service)
            case .failed(let error): refuse(error, position, service)
            }
        }
        services[key] = service
        levels[level] = service
        return service
    }

    private func gone(_ key: ServiceKey) {
        guard let service = services.removeValue(forKey: key) else { return }
        service.disconnect()
        levels[service.own.level] = nil
        for element in service.elements { addresses[element.address] = nil }
        listeners.tell(.removed, "/\(service.own.level)")
        listeners.forget(service.elements.map(\.address))
    }

    // MARK: - Values for surfaces

    /// Stores a value as the element's newest one and passes it to the surfaces.
    func show(_ value: ElementValue, at position: Int, _ service: BridgedService) {
        let element = service.elements[position]
        guard element.reads else { return }
        guard value.wireByteCount < Self.longestDatagram else {
            service[position].newest = nil
            _ = encode(value, position, service)
            return
        }
        service[position].newest = value
        if !rounds.add(value, of: element.definition, service) {
            tellOnce(.dropped, "dropped", position, service)
        }
    }

    func socketIsWritable() { rounds.resume() }

    private func deliver(_ value: ElementValue, _ position: Int, _ service: BridgedService) {
        let element = service.elements[position]
        guard !surfaces.isEmpty || listeners.listens(to: element.address) else { return }
        guard let bytes = encode(value, position, service) else { return }
        let key = service.motionKey(position)
        surfaces.write(bytes, of: key)
        listeners.tell(element.address, bytes) { surfaces.isMoved(key, by: $0) }
        tell(.passed(value), position, service)
    }

    /// Returns the message with an element's value; `nil` if OSC cannot represent it.
    func encode(_ value: ElementValue, _ position: Int, _ service: BridgedService) -> ByteBuffer? {
        let element = service.elements[position]
        do throws(ElementalError) {
            let tooLong = ElementalError(.datagramTooLarge, "the value is too long for a datagram")
            guard value.wireByteCount < Self.longestDatagram else { throw tooLong }
            var bytes = ByteBuffer()
            bytes.writeOSC(OSCMessage(element.address, try element.definition.oscArguments(value)))
            guard bytes.readableBytes <= Self.longestDatagram else { throw tooLong }
            return bytes
        } catch {
            tellOnce(.notPassed(error), error.message, position, service)
            return nil
        }
    }

    func answer(_ surface: Surface, _ position: Int, _ service: BridgedService) {
        guard service.elements[position].reads, let newest = service[position].newest,
            surface.channel.isWritable, let bytes = encode(newest, position, service)
        else { return }
        surfaces.write(bytes, of: service.motionKey(position), to: surface)
        surfaces.flush()
    }

    private func find(_ key: Surface.ElementKey) -> (service: BridgedService, position: Int)? {
        guard let service = services.values.first(where: { $0.own.number == key.service }),
            let position = service.elements.firstIndex(where: { $0.definition.id == key.id })
        else { return nil }
        return (service, position)
    }

    /// Whether a value that a surface has set is on its way to the service, or its outcome on the way back.
    private func isUnderWay(_ key: Surface.ElementKey) -> Bool {
        guard let (service, position) = find(key) else { return false }
        return service.isWaiting || service.sent.isUnderWay(service.elements[position].definition)
    }

    /// Handles the end of a surface's movement of an element: sends the current value to those that missed it, unless
    /// it is the value that the surface sent.
    private func rests(_ surface: Surface, _ key: Surface.ElementKey, _ motion: Surface.Motion) {
        guard let (service, position) = find(key) else { return }
        let isOwn = service[position].newest == motion.value
        if let host = surface.host { listeners.rest(service.elements[position].address, host, isKnown: isOwn) }
        if !isOwn { answer(surface, position, service) }
    }

    private static let mostTold = 16

    /// Reports a problem of an element only once per connection to the service.
    func tellOnce(
        _ outcome: BridgedValue.Outcome, _ problem: String, _ position: Int, isForService: Bool = false,
        _ service: BridgedService
    ) {
        guard service[position].told.count < Self.mostTold, service[position].told.insert(problem).inserted else {
            return
        }
        tell(outcome, position, isForService: isForService, service)
    }

    private func tell(
        _ outcome: BridgedValue.Outcome, _ position: Int, isForService: Bool = false, _ service: BridgedService
    ) {
        let element = service.elements[position]
        emit(
            .value(
                BridgedValue(
                    service.key, element.definition, outcome, .surfaces, isForService: isForService,
                    at: element.address)))
    }
}
