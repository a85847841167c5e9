import Elemental
import ElementalWire
import NIOCore
import SerialLines
import Support

import struct ElementalMicro.SerialIdentity

/// Represents the device on a line as a service, and passes values between it and the service's clients. Used on the
/// line's event loop only, which is the service's too.
final class DeviceService {
    private enum Phase {
        /// There is no session.
        case away
        /// The device is introducing itself: whether its hello has arrived, and its identity.
        case introducing(hasHello: Bool, SerialIdentity?)
        /// The device has introduced itself, and its histories are being opened.
        case opening(EarlyValues)
        case present
    }

    /// The maximum time for a device to introduce itself: enough for a long catalogue on a slow line.
    private static let introductionTime = TimeAmount.seconds(30)
    static let maximumQueuedByteCount = 1024 * 1024
    private static let awayRefusal = ValueRefusal("the device on the line is not connected; try again later")
    private static let fullRefusal = ValueRefusal("the line is too slow for these values; send fewer")

    private let configuration: SerialGatewayConfiguration
    /// `nil` if the gateway keeps no values.
    private let histories: LineHistories?
    private let lineName: String
    private let eventLoop: any EventLoop
    let tell: (SerialGatewayEvent) -> Void
    private var session: LineSession?
    private var phase = Phase.away
    private var introductionTimer: Scheduled<Void>?
    private var absenceTimer: Scheduled<Void>?

    /// The service while the device is present, and for a time after it was lost.
    private(set) var service: ElementalService?
    /// The device that was present last, also after its service was withdrawn.
    private var known: (service: String, name: String, elements: ElementCatalogue)?
    private var queue = LineQueue<SetValue>(maximumByteCount: DeviceService.maximumQueuedByteCount)
    private var unconfirmed = UnconfirmedValues()
    /// The newest values that clients set and the device did not refuse, if the configuration restores them.
    private var newest: [Int8: SetValue] = [:]
    private var isSendingSoon = false
    private var toldProblems: Set<Int8> = []

    init(
        _ line: any Line, _ configuration: SerialGatewayConfiguration, on eventLoop: any EventLoop,
        tell: @escaping (SerialGatewayEvent) -> Void
    ) {
        self.configuration = configuration
        histories = configuration.histories.map { LineHistories($0, on: eventLoop) }
        self.eventLoop = eventLoop
        self.tell = tell
        lineName = line.name
        session = LineSession(line, on: eventLoop, owner: self)
    }

    func start() { session?.start() }

    func stop() {
        introductionTimer?.cancel()
        absenceTimer?.cancel()
        session?.stop()
        session = nil
        phase = .away
        histories?.stop()
        // The handler of the service now refuses values.
        service = nil
        queue.removeAll()
        resumeClients()
    }

    // MARK: The line

    /// Begins a session with the device. Both streams begin anew.
    func sessionBegan() {
        guard let session else { return }
        phase = .introducing(hasHello: false, nil)
        introductionTimer = eventLoop.assumeIsolated().scheduleTask(in: Self.introductionTime) { [weak self] in
            self?.session?.reject("the device has not introduced itself; does it run ElementalMicro?")
        }
        session.write(SystemElement.deviceName.rawValue, Array("elemental".utf8))
        session.write(
            SystemElement.hello.rawValue,
            Hello(features: [.emptyValues, .ping, .wantsCatalogue, .refusals]).wireBytes)
    }

    func sessionEnded() {
        introductionTimer?.cancel()
        let wasPresent = if case .present = phase { true } else { false }
        phase = .away
        // A value in transit may have been lost.
        remember(unconfirmed.removeAll() + queue.removeAll())
        resumeClients()
        guard wasPresent, let service else { return }
        tell(.deviceLost(service))
        absenceTimer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(configuration.absence)) {
            [weak self] in self?.withdraw()
        }
    }

    private func withdraw() {
        absenceTimer?.cancel()
        guard let service else { return }
        self.service = nil
        tell(.deviceGone(service))
    }

    // MARK: From the device

    /// - Parameter bytes: valid only during the call.
    /// - Returns: the reason why the device cannot be used, if it cannot.
    func received(_ id: Int8, _ bytes: UnsafeRawBufferPointer) -> String? {
        switch phase {
        case .away: return nil
        case .introducing(let hasHello, let identity): return introduced(hasHello, identity, id, bytes)
        case .opening(var early):
            guard id >= 0 else { return nil }
            // Releases the values in `phase`, which would otherwise be copied.
            phase = .away
            let isKept = early.add(id, bytes)
            phase = .opening(early)
            return isKept ? nil : "the device sent too many values while the files of its histories were being opened"
        case .present:
            if id >= 0 {
                receivedValue(id, bytes)
            } else if id == SystemElement.pong.rawValue, bytes.count == MemoryLayout<UInt64>.size {
                answered(UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)))
            } else if id == SystemElement.refused.rawValue, let (id, refusal) = ValueRefusal.read(bytes) {
                refused(id, refusal)
            }
            return nil
        }
    }

    /// - Returns: the reason why the device cannot be used, if it cannot.
    private func introduced(
        _ hasHello: Bool, _ identity: SerialIdentity?, _ id: Int8, _ bytes: UnsafeRawBufferPointer
    ) -> String? {
        switch id {
        case SystemElement.hello.rawValue:
            guard let hello = Hello(wireBytes: bytes), hello.features.isSuperset(of: [.catalogue, .ping]) else {
                return "the device supports no catalogue or no ping"
            }
            phase = .introducing(hasHello: true, identity)
        case SerialIdentity.id:
            guard let identity = SerialIdentity(wireBytes: bytes) else { return "the device's name is malformed" }
            phase = .introducing(hasHello: hasHello, identity)
        case SystemElement.catalogue.rawValue:
            guard hasHello, let identity else { return "the device sent its catalogue before its name" }
            do throws(WireError) {
                return begin(identity, try ElementCatalogue(wireBytes: bytes))
            } catch {
                return "the device's catalogue is malformed: \(error.message)"
            }
        default: break
        }
        return nil
    }

    /// - Returns: the reason why the device cannot be published, if it cannot.
    private func begin(_ identity: SerialIdentity, _ elements: ElementCatalogue) -> String? {
        let (type, name) = (configuration.serviceName ?? identity.service, displayName(identity))
        guard let histories, histories.opened(type, name) == nil else { return publish(type, name, elements) }
        // A device that cannot be published gets no files.
        if let problem = problem(of: ElementalService(type, displayName: name, elements: elements)) { return problem }
        introductionTimer?.cancel()
        phase = .opening(EarlyValues())
        histories.open(type, name, for: elements) { [weak self] failure in
            self?.opened(type, name, elements, failure)
        }
        return nil
    }

    private func opened(_ type: String, _ name: String, _ elements: ElementCatalogue, _ failure: SecurityError?) {
        if let failure { tell(.keptInMemory(failure)) }
        // The device may be gone again.
        guard case .opening(let early) = phase else { return }
        if let problem = publish(type, name, elements) {
            session?.reject(problem)
            return
        }
        for value in early.values {
            value.bytes.withUnsafeBytes { receivedValue(value.id, $0, at: value.time) }
        }
    }

    private func problem(of service: ElementalService) -> String? {
        do throws(ElementalError) {
            try service.checkNames()
            return nil
        } catch {
            return "the device cannot be published: \(error.message)"
        }
    }

    /// - Returns: the reason why the device cannot be published, if it cannot.
    private func publish(_ type: String, _ name: String, _ elements: ElementCatalogue) -> String? {
        let isKnown = known.map { $0 == (type, name, elements) } ?? false
        var appeared: ElementalService?
        if !isKnown || service == nil {
            let service = makeService(type, name, elements)
            if let problem = problem(of: service) { return problem }
            appeared = service
        }
        introductionTimer?.cancel()
        absenceTimer?.cancel()
        session?.accepted()
        phase = .present
        if !isKnown { newest = [:] }
        if let appeared {
            withdraw()
            known = (type, name, elements)
            toldProblems = []
            service = appeared
            tell(.deviceAppeared(appeared))
        } else if let service {
            tell(.deviceReturned(service))
        }
        restore()
        sendWaiting()
        return nil
    }

    /// Sends a device that was away the values that clients had set.
    private func restore() {
        guard !newest.isEmpty else { return }
        // The queue is empty at the beginning of a session, and has room for one value of each element.
        for item in newest.values.sorted(by: { $0.element.id < $1.element.id }) { _ = queue.append(item) }
        tell(.restored(newest.count))
    }

    private func displayName(_ identity: SerialIdentity) -> String {
        if let name = configuration.displayName { return name }
        guard identity.displayName.isEmpty else { return identity.displayName }
        let place = lineName.split(separator: "/").last.map(String.init) ?? lineName
        return HostName.current + " " + place
    }

    private func makeService(_ type: String, _ name: String, _ elements: ElementCatalogue) -> ElementalService {
        // One loop for line and clients: values pass between them without changing threads.
        var serviceConfiguration = configuration.service
        serviceConfiguration.eventLoopGroup = eventLoop
        if let histories { serviceConfiguration.histories = histories.opened(type, name) }
        let service = ElementalService(
            type, displayName: name, elements: histories?.elements(of: elements) ?? elements,
            configuration: serviceConfiguration)
        // Weak, because a handler of the gateway's events may keep the service.
        let bound = NIOLoopBound({ [weak self] in self }, eventLoop: eventLoop)
        service.onAnyValue { [weak service] element, value, device in
            guard let service else { return }
            guard let owner = bound.value(), owner.service === service else {
                // The service is being withdrawn.
                return service.refuse(element, from: device, Self.awayRefusal)
            }
            owner.take(value, of: element, from: device)
        }
        return service
    }

    /// - Parameter time: when the value arrived; `nil` for now.
    private func receivedValue(_ id: Int8, _ bytes: UnsafeRawBufferPointer, at time: MeasurementTime? = nil) {
        guard let service, let element = service.elements[id: id] else {
            return noteProblem(id, "it has no such element")
        }
        guard let value = ElementValue(wireBytes: bytes, type: element.type) else {
            return noteProblem(id, "\(bytes.count) bytes are not a valid \(element.type)")
        }
        do throws(ElementalError) {
            // A client that cannot receive the value must not keep it from the others, so the result is ignored.
            _ = try service.send(value, to: element, at: time)
        } catch {
            noteProblem(id, error.message)
        }
    }

    private func noteProblem(_ id: Int8, _ problem: String) {
        guard toldProblems.insert(id).inserted else { return }
        tell(.problem("a value of the device's element \(id) is dropped: \(problem)"))
    }

    private func answered(_ number: UInt64) {
        remember(unconfirmed.answered(number))
        sendWaiting()
    }

    private func remember(_ items: [SetValue]) {
        guard configuration.restores else { return }
        for item in items {
            newest[item.element.id] = SetValue(element: item.element, value: item.value, client: nil)
        }
    }

    private func refused(_ id: Int8, _ refusal: ValueRefusal) {
        guard let service, let element = service.elements[id: id] else { return }
        var told: Set<ElementalDevice> = []
        for item in unconfirmed.refused(id) {
            guard let device = item.client, told.insert(device).inserted else { continue }
            service.refuse(element, from: device, refusal)
        }
    }

    // MARK: To the device

    private func take(_ value: ElementValue, of element: ElementDefinition, from client: ElementalDevice) {
        let item = SetValue(element: element, value: value, client: client, decision: client.beginDecision())
        guard let refusal = refusal(of: item) else { return sendSoon() }
        service?.refuse(element, from: client, refusal)
    }

    /// - Returns: the reason why the client's value is refused, if it is.
    private func refusal(of item: SetValue) -> ValueRefusal? {
        let limit = LineSession.maximumValueByteCount
        guard item.value.wireByteCount <= limit else {
            return ValueRefusal("a device on a line takes texts and data of at most \(limit) bytes")
        }
        guard case .present = phase else {
            remember([item])
            return configuration.restores ? nil : Self.awayRefusal
        }
        let before = item.client.map { queue.byteCount(of: $0) } ?? 0
        guard queue.append(item) else { return Self.fullRefusal }
        if let client = item.client, queue.pauses(client, before: before) { client.pause() }
        return nil
    }

    /// Sends the values that clients set in this turn of the loop at its end: in few packets, followed by one ping.
    private func sendSoon() {
        guard !isSendingSoon else { return }
        isSendingSoon = true
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute {
            bound.value.isSendingSoon = false
            bound.value.sendWaiting()
        }
    }

    func sendWaiting() {
        guard case .present = phase, let session else { return }
        while let item = queue.first, session.room >= item.byteCount {
            session.write(item.element.id, byteCount: item.value.wireByteCount) { _ = item.value.write(to: $0) }
            queue.popFirst()
            unconfirmed.add(item)
        }
        if unconfirmed.needsPing, session.room >= Envelope.streamByteCount + MemoryLayout<UInt64>.size {
            let number = unconfirmed.beginPing().littleEndian
            session.write(SystemElement.ping.rawValue, byteCount: MemoryLayout<UInt64>.size) {
                $0.storeBytes(of: number, as: UInt64.self)
            }
        }
        session.flush()
        resumeClients()
    }

    private func resumeClients() { for client in queue.takeResumed() { client.resume() } }
}
