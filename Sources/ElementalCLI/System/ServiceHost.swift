import Elemental
import UnixSignals

/// Runs a service of ours and tells what happens to it and what devices send.
struct ServiceHost: Sendable {
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
    ///
    /// - Parameter signals: trapped before; without them they are trapped before the service starts.
    func run(
        signals: UnixSignalsSequence? = nil, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let signals = if let signals { signals } else { await Interruption.trap() }
        let (items, item) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingNewest(65536))
        service.onEvent { [showsValues] event in
            // On the event loop, before the device's first value is handed on.
            if case .deviceConnected(let device) = event {
                item.yield(.device(device, showsValues ? device.values() : nil))
            } else {
                item.yield(.event(event))
            }
        }
        if passesValuesOn {
            service.onAnyValue { [service] element, value, _ in
                // On the event loop too, so that whoever connects next gets this value and no older one. A device that
                // cannot take it does not keep it from the others.
                if element.access.contains(.read) { _ = try? service.send(value, to: element) }
            }
        }
        try await service.start()
        let telling = Task { await tell(items) }
        let result: Result<Void, any Error>
        do {
            result = .success(try await Interruption.run(console, signals: signals, body))
        } catch {
            result = .failure(error)
        }
        await service.stop(reason: "the service has ended")
        await telling.value
        try result.get()
    }

    /// Tells everything in order; a device's end after its last value.
    private func tell(_ items: AsyncStream<Item>) async {
        await withDiscardingTaskGroup { group in
            for await item in items {
                switch item {
                case .device(let device, let values):
                    let name = device.name
                    console.emit(.connected(device: name, address: device.addressText))
                    group.addTask {
                        if let values {
                            for await (element, value) in values {
                                console.emit(.received(element, value, device: name))
                            }
                        }
                        console.emit(.disconnected(device: name, await device.waitUntilDisconnected()))
                    }
                case .event(.listening(let port)): console.emit(.listening(service: service.service, port: port))
                case .event(.published(let name)):
                    console.emit(.published(service: service.service, name: name, port: service.port ?? 0))
                case .event(.failedToPublish(let error, let delay)):
                    console.emit(
                        .publishFailed(service: service.service, reason: error.message, retryIn: delay))
                case .event(.stopped): return
                case .event(.deviceConnected), .event(.deviceDisconnected): break
                }
            }
        }
        console.emit(.stopped(service: service.service))
    }
}
