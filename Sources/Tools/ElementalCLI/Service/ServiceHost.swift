import Elemental
import Support

/// Runs a service of this process, and reports its events and the values that devices send.
struct ServiceHost: Sendable {
    /// The maximum number of devices and events that wait to be reported while the output is not read. It is larger
    /// than the number of events when all devices that `elemental bench serve` allows disconnect at once. A waiting
    /// device costs some KiB.
    private static let maximumItemCount = 32_768
    /// The maximum number of disconnected devices whose values wait to be reported. Above it, the values of new devices
    /// are omitted: each device has a stream, which holds megabytes.
    private static let maximumGoneCount = 64

    private let service: ElementalService
    private let security: HostSecurity
    private let console: Console
    private let relaysValues: Bool
    private let showsValues: Bool
    private let reportedCount = Locked(0)

    /// An item that the service's event loop queues to be reported.
    private enum Item: Sendable {
        case event(ServiceEvent)
        case device(ElementalDevice, Client.Values?)
    }

    /// - Parameters:
    ///   - security: how the service admits clients; its configuration contains the same.
    ///   - relaysValues: whether a value that a device sends becomes the element's value and goes to all devices.
    ///   - showsValues: whether to report what devices send.
    init(
        _ service: ElementalService, _ security: HostSecurity, _ console: Console, relaysValues: Bool,
        showsValues: Bool = true
    ) {
        self.service = service
        self.security = security
        self.console = console
        self.relaysValues = relaysValues
        self.showsValues = showsValues
    }

    /// Starts the service, runs `body` until it ends or the program is interrupted, and stops the service.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        await Interruption.trap()
        let (items, item) = AsyncStream.makeStream(
            of: Item.self, bufferingPolicy: .bufferingNewest(Self.maximumItemCount))
        service.onEvent { [self] event in
            // On the event loop, before the device's first value is delivered.
            let next: Item =
                if case .deviceConnected(let device) = event {
                    .device(
                        device, showsValues && reserveReport() ? device.values { ArrivedValue($0, $1, from: $2) } : nil)
                } else {
                    .event(event)
                }
            guard case .dropped(let dropped) = item.yield(next) else { return }
            if case .device(_, .some) = dropped { reportedCount.withLock { $0 -= 1 } }
            console.streams.noteOmitted(1)
        }
        if relaysValues { service.relayAll() }
        FileDescriptors.allow(devices: service.configuration.maximumDeviceCount)
        try await service.start()
        let reporting = Task { await report(items) }
        try await withCleanup {
            try await Interruption.run(console, .endless) { [service] in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await body() }
                    group.addTask {
                        try await service.waitUntilStopped()
                        throw CancellationError()
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        } cleanup: {
            await service.stop(reason: "the service has ended")
            await reporting.value
        }
    }

    /// Returns whether the values of a new device may be reported. If so, the device is counted.
    private func reserveReport() -> Bool {
        let limit = service.devices.count + Self.maximumGoneCount
        let isShown = reportedCount.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        if !isShown { console.streams.noteOmitted(1) }
        return isShown
    }

    private func reportListening(_ port: Int) async {
        let allowed = service.configuration.maximumDeviceCount
        let capacity = service.deviceCapacity ?? allowed
        await console.emit(
            .listening(
                service.service, port: port, maximumDevices: capacity,
                policy: service.configuration.security.policy))
        guard capacity < allowed else { return }
        await console.talk(
            "only \(capacity) instead of \(allowed) devices can connect at a time, since this process may not open more "
                + "files and sockets; raise the limit (ulimit -n)")
    }

    /// Reports everything in order; a device's disconnection after its last value.
    private func report(_ items: AsyncStream<Item>) async {
        var invitation = PairingInvitation(service: service, security: security, console: console)
        // The names of the reported devices whose values are not shown.
        var names: [ElementalDevice: String] = [:]
        await withDiscardingTaskGroup { group in
            for await item in items {
                switch item {
                case .device(let device, let values):
                    let name = device.name
                    await console.emit(
                        .clientConnected(
                            service.service, client: name, address: device.addressText,
                            role: device.grantedRole ?? .plain, fingerprint: device.fingerprint))
                    guard let values else {
                        names[device] = name
                        continue
                    }
                    group.addTask {
                        for await value in values {
                            await console.emit(
                                ClientValueEvent(arrived: value, service: service.service, client: name))
                        }
                        guard let reason = try? await device.waitUntilDisconnected() else { return }
                        reportedCount.withLock { $0 -= 1 }
                        await console.emit(.clientDisconnected(service.service, client: name, reason))
                    }
                case .event(.deviceDisconnected(let device, let reason)):
                    // For a device with values, its task reports this after the last value. Such a task for each other
                    // device would take 3 KiB.
                    guard let name = names.removeValue(forKey: device) else { continue }
                    await console.emit(.clientDisconnected(service.service, client: name, reason))
                case .event(.listening(let port)):
                    await reportListening(port)
                    if !service.configuration.isPublished { await invitation.extend(as: nil) }
                case .event(.failedToListen(let error, let delay)):
                    await console.emit(.retrying(service.service, publishing: false, error, in: delay))
                case .event(.published(let name)):
                    await console.emit(.published(service.service, name: name, port: service.port ?? 0))
                    await invitation.extend(as: name)
                case .event(.failedToPublish(let error, let delay)):
                    await console.emit(.retrying(service.service, publishing: true, error, in: delay))
                    await invitation.extend(as: nil)
                case .event(.pairing(let event)): await invitation.report(event)
                case .event(.trustUnavailable(let error)):
                    await console.emit(.trustUnavailable(service.service, error))
                case .event(.trustAvailable):
                    await console.emit(.trustAvailable(service.service))
                case .event(.historyUnavailable(let error)):
                    await console.emit(.historyUnavailable(service.service, error))
                case .event(.historyAvailable):
                    await console.emit(.historyAvailable(service.service))
                case .event(.stopped): return
                // A failure ends the command, which reports it.
                case .event(.deviceConnected), .event(.failed): break
                }
            }
        }
        await console.emit(.stopped(service.service))
    }
}
