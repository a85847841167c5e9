import Elemental

/// A bench service's echoes by async streams, for the devices that asked for them.
final class StreamEchoes: Sendable {
    private let devices = Locked<Set<ElementalDevice>>([])

    func attach(to service: ElementalService) {
        service.onValue(of: BenchElements.openStreams) { [self] _, device in
            guard devices.withLock({ $0.insert(device).inserted }) else { return }
            for echo in [BenchElements.streamEcho, BenchElements.streamEchoDatagram] {
                Self.consume(echo.number, of: device)
                Self.consume(echo.data, of: device)
            }
        }
        service.onEvent { [self] event in
            if case .deviceDisconnected(let device, _) = event { _ = devices.withLock { $0.remove(device) } }
        }
    }

    private static func consume<Value>(_ element: Element<Value>, of device: ElementalDevice) {
        // Here on the event loop, so that the next message is not missed.
        let values = device.values(of: element)
        Task {
            for await value in values { try? await device.sendWhenReady(value, to: element) }
        }
    }
}
