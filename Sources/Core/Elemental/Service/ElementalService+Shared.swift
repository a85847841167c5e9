import ElementalHistory
import ElementalWire
import Support
import Zeroconf

extension ElementalService {
    /// State shared by the service's event loop and its callers.
    final class Shared: Sendable {
        let name: String
        let displayName: String
        let configuration: ServiceConfiguration
        let handlers = HandlerTable()
        let events = EventHub<ServiceEvent>()
        let admission = Locked<(@Sendable (ConnectionRequest) -> Admission)?>(nil)
        let devices = Locked<[ElementalDevice]>([])
        let current: Locked<CurrentValues>
        let txt: Locked<[String: String]>
        let security: Locked<SecurityEntries>
        let failure = Locked<ElementalError?>(nil)
        let histories: ServiceHistories

        init(name: String, displayName: String, elements: ElementCatalogue, configuration: ServiceConfiguration) {
            self.name = name
            self.displayName = displayName
            var configuration = configuration
            configuration.logger = configuration.logger.printable
            self.configuration = configuration
            histories = configuration.histories ?? ServiceHistories()
            histories.keepOnly(elements)
            current = Locked(CurrentValues(ElementTable(elements), under: configuration.security.policy))
            txt = Locked(configuration.txt)
            security = Locked(SecurityEntries(configuration.security))
        }

        var table: ElementTable { current.withLock { $0.table } }

        func table(for role: Role) -> ElementTable { current.withLock { $0.table(for: role) } }

        var policy: SecurityPolicy { configuration.security.policy }
    }
}

extension ElementalService.Shared {
    func congestedDevice(for length: Int, of id: Int8?) -> ElementalDevice? {
        devices.withLock { devices in
            var congested: ElementalDevice?
            devices.forEachUnretained { device in
                let isCongested = device.congestion.isAny
                // Below the high watermark there is room for any value that fits between it and the queue's maximum.
                let spare = device.limits.maximumQueueByteCount - device.limits.readyQueueByteCount
                guard congested == nil, isCongested || length + Envelope.streamByteCount > spare else { return }
                let waits = device.outbound.withLock {
                    $0.needsToWait(isCongested: isCongested, for: length, of: id)
                }
                if waits { congested = device }
            }
            return congested
        }
    }

    func add(_ device: ElementalDevice) {
        // The elements may have been replaced since the device connected.
        current.withLock { values in
            values.restrict(device)
            devices.withLock { $0.append(device) }
        }
    }

    func use(_ elements: ElementCatalogue) {
        current.withLock { values in
            values.use(ElementTable(elements))
            histories.keepOnly(elements)
            for device in devices.withLock({ $0 }) { values.restrict(device) }
        }
    }

    /// Queues the current values. Their lock is held meanwhile, so that a value set concurrently is queued behind them.
    func greet(_ device: ElementalDevice) {
        current.withLock { values in
            device.outbound.withLock { outbound in
                for id in values.ids where !outbound.peer.lacks(id) { values.queue(id, in: &outbound) }
            }
        }
    }

    /// Queues the refusal, followed by the current value, unless the device's queue is full.
    func refuse(_ id: Int8, from device: ElementalDevice, _ refusal: ValueRefusal) {
        guard device.takesRefusals else { return }
        let bytes = refusal.wireBytes(id: id)
        current.withLock { values in
            device.outbound.withLock { outbound in
                // A client receives nothing about elements that its role may not read.
                guard !outbound.peer.lacks(id) else { return }
                // A peer that sends refused values and reads nothing gets no answers, so that our memory does not grow.
                guard outbound.stream.hasRoom(for: bytes.count) else { return }
                bytes.withUnsafeBytes { outbound.appendSystem(.refused, $0) }
                guard let value = values[id], outbound.hasRoom(forCurrent: value.byteCount) else { return }
                values.queue(id, in: &outbound)
            }
        }
    }

    func txtRecord(instanceName: String?) throws(ZeroconfError) -> TXTRecord {
        try ServiceTXT.record(
            txt.withLock { $0 }, service: name, instanceName: instanceName, security: security.withLock { $0 })
    }

    /// The command that pairs a client with this service.
    var pairingCommand: String {
        guard configuration.isPublished else { return "elemental pair HOST:PORT" }
        // Quoted for a shell.
        return "elemental pair '" + "\(name)/\(displayName)".replacing("'", with: "'\\''") + "'"
    }
}

extension [ElementalDevice] {
    /// Visits each without retaining it, since the array keeps them alive. With a plain loop a value for 20 devices took 1.86
    /// times as long.
    @inline(__always)
    func forEachUnretained(_ body: (ElementalDevice) -> Void) {
        withUnsafeBytes { bytes in
            for reference in bytes.bindMemory(to: UnsafeRawPointer.self) {
                Unmanaged<ElementalDevice>.fromOpaque(reference)._withUnsafeGuaranteedRef(body)
            }
        }
    }
}
