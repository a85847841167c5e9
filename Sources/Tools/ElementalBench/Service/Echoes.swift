import Elemental
import Support

/// A bench service's echoes by handlers: each message goes back to the device that sent it, on the event loop.
enum Echoes {
    static func attach(to service: ElementalService) {
        for echo in [BenchElements.echo, BenchElements.echoDatagram] {
            attach(echo.number, to: service)
            attach(echo.data, to: service)
        }
        for stamp in [BenchElements.stamp, BenchElements.stampDatagram] {
            service.onValue(of: stamp.sent) { sent, device in
                // An answer is dropped if the queue is full, because the time of a late answer is useless.
                try? device.send(sent, to: stamp.received, at: .now)
            }
        }
    }

    private static func attach<Value>(_ element: Element<Value>, to service: ElementalService) {
        service.onValue(of: element) { value, device in
            do throws(ElementalError) {
                try device.send(value, to: element)
            } catch {
                guard error.code == .queueFull else { return }
                // A handler cannot wait. Later answers may overtake it, which does not matter because all are numbered.
                Task { try? await device.sendWhenReady(value, to: element) }
            }
        }
    }
}

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
        // Subscribes here, on the event loop, so that the next message is not missed.
        let values = device.values(of: element)
        Task(executorPreference: isOnLoop ? device.executor : nil) {
            for await value in values { try? await device.sendWhenReady(value, to: element) }
        }
    }
}
