import Logging

/// Resolves a service once.
public enum Resolver {
    /// Queries the host, port and TXT record of a service and then the host's addresses.
    ///
    /// It returns when it has addresses of both families, or 3 ms after the first address.
    ///
    /// - Parameters:
    ///   - instance: the service, from a browser or stored earlier.
    ///   - timeout: the time limit for the whole call. Avahi alone gives up after 5 seconds; the resolver asks it again
    ///     until the limit.
    ///   - wantsAddresses: whether to look up the host's addresses. Without them the call returns as soon as host, port
    ///     and TXT record are known.
    ///   - logger: receives details; without one nothing is logged.
    /// - Throws: ``ZeroconfError/Code/timedOut``, ``ZeroconfError/Code/daemonUnavailable``,
    ///   ``ZeroconfError/Code/refused``, ``ZeroconfError/Code/system``; ``ZeroconfError/Code/cancelled`` at once when
    ///   the task is cancelled. Everything is released in each case.
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
