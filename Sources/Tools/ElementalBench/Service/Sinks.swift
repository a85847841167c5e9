import Elemental
import Support

/// A bench service's sinks, one for each device that has begun a run.
final class Sinks: Sendable {
    private let sinks = Locked<[ElementalDevice: Sink]>([:])

    func attach(to service: ElementalService) {
        service.onValue(of: BenchElements.ask) { [self] run, device in
            // If the report cannot be sent, the device is gone or its queue is full; it will ask again.
            try? device.send(sink(of: device).report(of: run), to: BenchElements.report)
        }
        service.onEvent { [self] event in
            if case .deviceDisconnected(let device, _) = event { _ = sinks.withLock { $0.removeValue(forKey: device) } }
        }
    }

    /// The device's sink. Its handlers are added to the device, so that messages need no lookup.
    private func sink(of device: ElementalDevice) -> Sink {
        sinks.withLock { sinks in
            if let sink = sinks[device] { return sink }
            let sink = Sink()
            sinks[device] = sink
            device.onValue(of: BenchElements.number) { sink.take($0, over: .tcp) }
            device.onBytes(of: BenchElements.data) { bytes, _ in sink.take(bytes, over: .tcp) }
            device.onValue(of: BenchElements.numberDatagram) { sink.take($0, over: .udp) }
            device.onBytes(of: BenchElements.dataDatagram) { bytes, _ in sink.take(bytes, over: .udp) }
            device.onValue(of: BenchElements.motion) { sink.take($0, over: .udp) }
            return sink
        }
    }
}
