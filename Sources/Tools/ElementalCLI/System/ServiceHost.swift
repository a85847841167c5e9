import Elemental

/// Runs a service of ours and tells what happens to it and what devices send.
struct ServiceHost: Sendable {
    /// Devices and events that wait to be told while nobody reads. A device that waits costs some KiB.
    private static let mostItems = 8192

    private let service: ElementalService
    private let console: Console
    private let passesValuesOn: Bool
    private let showsValues: Bool

    /// What the service's event loop hands over to be told.
    private enum Item: Sendable {
        case event(ServiceEvent)
        case device(ElementalDevice, Client.Values?)
    }

    /// - Parameters:
    ///   - passesValuesOn: whether a value that a device sends becomes the element's value and goes to all devices.
    ///   - showsValues: whether what devices send is told.
    init(_ service: ElementalService, _ console: Console, passesValuesOn: Bool, showsValues: Bool = true) {
        self.service = service
        self.console = console
        self.passesValuesOn = passesValuesOn
        self.showsValues = showsValues
    }

    /// Starts the service, runs `body` until it ends or the user wants the program to end, and stops the service.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        await Interruption.trap()
        let (items, item) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingNewest(Self.mostItems))
        service.onEvent { [showsValues, console] event in
            // On the event loop, before the device's first value is handed on.
            let next: Item =
                if case .deviceConnected(let device) = event {
                    .device(device, showsValues ? device.values { ArrivedValue($0, $1) } : nil)
                } else {
                    .event(event)
                }
            if case .dropped = item.yield(next) { console.noteOmitted(1) }
        }
        if passesValuesOn { service.relayAll() }
        FileDescriptors.allow(devices: service.configuration.maximumDeviceCount)
        try await service.start()
        let telling = Task { await tell(items) }
        let result: Result<Void, any Error>
        do {
            result = .success(try await Interruption.run(console, .endless, body))
        } catch {
            result = .failure(error)
        }
        await service.stop(reason: "the service has ended")
        await telling.value
        try result.get()
    }

    private func tellListening(_ port: Int) async {
        let allowed = service.configuration.maximumDeviceCount
        let capacity = service.deviceCapacity ?? allowed
        await console.emit(.listening(service: service.service, port: port, maximumDevices: capacity))
        guard capacity < allowed else { return }
        await console.talk(
            "only \(capacity) instead of \(allowed) devices can connect at a time, since this process may not open more "
                + "files and sockets; raise the limit (ulimit -n)")
    }

    /// Tells everything in order; a device's end after its last value.
    private func tell(_ items: AsyncStream<Item>) async {
        await withDiscardingTaskGroup { group in
            for await item in items {
                switch item {
                case .device(let device, let values):
                    let name = device.name
                    await console.emit(.connected(device: name, address: device.addressText))
                    group.addTask {
                        if let values {
                            for await value in values { await console.emit(.received(value, device: name)) }
                        }
                        await console.emit(.disconnected(device: name, await device.waitUntilDisconnected()))
                    }
                case .event(.listening(let port)): await tellListening(port)
                case .event(.published(let name)):
                    await console.emit(.published(service: service.service, name: name, port: service.port ?? 0))
                case .event(.failedToPublish(let error, let delay)):
                    await console.emit(
                        .publishFailed(service: service.service, reason: error.message, retryIn: delay))
                case .event(.stopped): return
                case .event(.deviceConnected), .event(.deviceDisconnected): break
                }
            }
        }
        await console.emit(.stopped(service: service.service))
    }
}
