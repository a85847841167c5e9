import Logging

/// Resolves a service once.
public enum Resolver {
    /// Queries the host, port and TXT record of a service and then the host's addresses.
    ///
    /// It returns when addresses of both families are there, or 3 ms after the first one.
    ///
    /// - Parameters:
    ///   - instance: the service, from a browser or remembered from earlier.
    ///   - timeout: how long to wait in all. Avahi alone gives up after 5 seconds; it is asked again until the time
    ///     is over.
    ///   - wantsAddresses: whether to look up the host's addresses. Without them it returns as soon as host, port and
    ///     TXT record are known, with no addresses.
    ///   - logger: receives details; without one nothing is logged.
    /// - Throws: ``ZeroconfError/Code/timedOut``, ``ZeroconfError/Code/daemonUnavailable``,
    ///   ``ZeroconfError/Code/refused``, ``ZeroconfError/Code/system``; ``ZeroconfError/Code/cancelled`` at once when
    ///   the task is cancelled; everything is then released.
    public static func resolve(
        _ instance: ServiceInstance, timeout: Duration = .seconds(10), wantsAddresses: Bool = true,
        logger: Logger? = nil
    ) async throws(ZeroconfError) -> ResolvedService {
        let machine = ResolveMachine(instance, timeout: timeout, wantsAddresses: wantsAddresses)
        let driver = MachineDriver(machine, label: "zeroconf.resolver", logger: logger, runsOnDemand: true)
        defer { driver.end() }
        for await outcome in driver.subscribe() {
            return try outcome.get()
        }
        throw ZeroconfError(.cancelled, "resolving \(instance) was cancelled")
    }
}
