import Elemental

/// A service for measurements: it answers pings, as every service does, counts what is sent to its sinks, sends back
/// what is sent to its echoes and sends to all devices at once.
///
/// A device that is merely connected costs it nothing beyond the connection.
package enum BenchService {
    /// A broadcast runs ahead of each device by its queue's size: with hundreds of devices it has to be small.
    private static let maximumQueueByteCount = 64 * 1024

    /// Creates the service; the caller starts and stops it.
    package static func make(displayName: String?, configuration: ServiceConfiguration) -> ElementalService {
        var configuration = configuration
        configuration.limits.maximumQueueByteCount = maximumQueueByteCount
        let service = ElementalService(
            BenchElements.service, displayName: displayName, elements: BenchElements.all, configuration: configuration)
        Sinks().attach(to: service)
        Echoes.attach(to: service)
        StreamEchoes().attach(to: service)
        Broadcasts().attach(to: service)
        return service
    }
}
