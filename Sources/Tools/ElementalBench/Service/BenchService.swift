import Elemental

/// A service for measurements: it answers pings, as every service does, counts the messages to its sinks, returns the
/// messages to its echoes and sends to all devices at once.
///
/// A device that is merely connected costs it nothing beyond the connection.
package enum BenchService {
    /// A broadcast fills the queue of each device, so with hundreds of devices the queues have to be small.
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
