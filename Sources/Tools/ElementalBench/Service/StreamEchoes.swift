import Elemental
import Support

/// A bench service's echoes by async streams, for the devices that requested them.
final class StreamEchoes: Sendable {
    private let devices = Locked<Set<ElementalDevice>>([])

    func attach(to service: ElementalService) {
        service.onValue(of: BenchElements.openStreams) { [self] isOnLoop, device in
            guard devices.withLock({ $0.insert(device).inserted }) else { return }
            for echo in [BenchElements.streamEcho, BenchElements.streamEchoDatagram] {
                Self.consume(echo.number, of: device, isOnLoop: isOnLoop)
                Self.consume(echo.data, of: device, isOnLoop: isOnLoop)
            }
        }
        service.onEvent { [self] event in
            if case .deviceDisconnected(let device, _) = event { _ = devices.withLock { $0.remove(device) } }
        }
    }

    private static func consume<Value>(_ element: Element<Value>, of device: ElementalDevice, isOnLoop: Bool) {
        // Here on the event loop, so that the next message is not missed.
        let values = device.values(of: element)
        Task(executorPreference: isOnLoop ? device.executor : nil) {
            for await value in values { try? await device.sendWhenReady(value, to: element) }
        }
    }
}
