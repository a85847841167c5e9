public import Elemental

/// A service for measurements: it answers pings, as every service does, and counts what is sent to its sinks.
public enum BenchService {
    /// Makes the service; the caller starts and stops it.
    public static func make(displayName: String?, configuration: ServiceConfiguration) -> ElementalService {
        let service = ElementalService(
            BenchElements.service, displayName: displayName, elements: BenchElements.all, configuration: configuration)
        service.onEvent { event in
            guard case .deviceConnected(let device) = event else { return }
            let sink = Sink()
            device.onValue(of: BenchElements.stream) { sink.take($0) }
            device.onValue(of: BenchElements.datagram) { sink.take($0) }
            device.onValue(of: BenchElements.ask) { run, device in
                // A device that cannot take the report is gone or full; it asks again.
                try? device.send(sink.report(of: run), to: BenchElements.report)
            }
        }
        return service
    }
}
