import Logging

/// Finds the services of one type in the domain `local.` as they come and go.
///
/// ```swift
/// let browser = ServiceBrowser(type: try .tcp("robot"))
/// for await event in browser.events() { print(event) }
/// ```
/// It browses while a stream of ``events()`` exists and ``stop()`` was not called; when the last stream ends, it
/// releases everything. Between events it uses no CPU time, unless there are more services than it can watch at a time.
///
/// **Each service once.** A service is reported once, however many interfaces and address families it is seen on, and is
/// gone when it has gone from all of them. `found` comes when host, port, TXT record and at least one address are
/// known; further addresses follow as `updated`.
///
/// **Failures.** If the daemon is absent or dies, `failed` reports it, and browsing is retried after 0.5 s, then 1, 2,
/// 4 … at most 30 seconds. Services already found stay found meanwhile. When browsing works again, services that are
/// still there cause no second `found` (but `updated`, if something changed), and those not seen within 6 seconds are
/// `gone`. A service that cannot be resolved is retried with the same growing delay.
///
/// **Limits.** It uses at most 7 threads and D-Bus connections (a user may have 256), however many services there are:
/// one to browse, one for each service being resolved or watched for changes, and two for each host. While these are
/// enough, changes are reported at once. Otherwise services and hosts take turns: one a second, or fewer if each still
/// has its turn within 30 seconds. A changed TXT record, host, port or address is then reported within a minute for up
/// to 30 services and hosts without a watch, and a second later for each further one, provided that the hosts answer. A
/// new service is resolved before any turn. A new stream of ``events()`` causes up to 64 turns at once. At most 4096
/// services are listed.
public final class ServiceBrowser: Sendable {
    /// A change of the services of the type, or a failure.
    public enum Event: Sendable {
        /// A service has appeared.
        case found(ResolvedService)
        /// The TXT record, host, port or set of addresses of a service has changed.
        case updated(ResolvedService)
        /// A service that was found or unresolved is no longer listed.
        case gone(ServiceInstance)
        /// A service is listed but could not be resolved; the browser retries. For a service that was found before,
        /// this is only reported if the second attempt fails too.
        case unresolved(ServiceInstance, ZeroconfError)
        /// Browsing does not work; the next attempt comes after the given time.
        case failed(ZeroconfError, retryIn: Duration)
    }

    /// The type of the services.
    public let type: ServiceType

    private let driver: MachineDriver<BrowserMachine>

    /// Creates a browser. It does nothing before the first call of ``events()``.
    ///
    /// - Parameters:
    ///   - type: the type of the services.
    ///   - logger: receives failures as warnings and details at debug level; without one nothing is logged.
    public init(type: ServiceType, logger: Logger? = nil) {
        self.type = type
        let machine = BrowserMachine(type: type)
        driver = MachineDriver(machine, label: "zeroconf.browser", logger: logger, runsOnDemand: true)
    }

    /// Returns a stream of the events from now on, separate for each caller. It begins with a `found` for every known
    /// service.
    ///
    /// The stream ends after ``stop()``, or when it holds 4096 unread events.
    public func events() -> AsyncStream<Event> { driver.subscribe() }

    /// Returns a stream like ``events()`` that ends when the first answers have arrived, which takes a second, and
    /// their services have been resolved or have failed.
    package func survey() -> AsyncStream<Event> { driver.subscribe(isSurvey: true) }

    /// Ends browsing and all streams permanently, and returns when the library has released everything.
    ///
    /// That takes a few milliseconds, or up to 25 seconds (D-Bus's limit) for every two lookups if the daemon hangs.
    public func stop() async {
        await driver.stop()
    }
}
