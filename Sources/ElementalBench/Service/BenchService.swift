public import Elemental

/// A service for measurements: it answers pings, as every service does, counts what is sent to its sinks and sends
/// back what is sent to its echoes.
///
/// A device that is merely connected costs it nothing beyond the connection.
public enum BenchService {
    /// Makes the service; the caller starts and stops it.
    public static func make(displayName: String?, configuration: ServiceConfiguration) -> ElementalService {
        let service = ElementalService(
            BenchElements.service, displayName: displayName, elements: BenchElements.all, configuration: configuration)
        Sinks().attach(to: service)
        Echoes.attach(to: service)
        StreamEchoes().attach(to: service)
        return service
    }
}
