import Logging

/// Finds the services of one type in the domain `local.` as they come and go.
///
/// ```swift
/// let browser = ServiceBrowser(type: try .tcp("robot"))
/// for await event in browser.events() { print(event) }
/// ```
/// It browses for as long as someone holds a stream of ``events`` and ``stop()`` was not called; when the last stream
/// ends, everything is released. Between events it uses no CPU time, unless there are more services than it can watch at a time.
///
/// **Each service once.** A service is reported once, however many interfaces and address families it is seen on, and is
/// gone when it has gone from all of them. `found` comes when host, port, TXT record and at least one address are
/// known; further addresses follow as `updated`.
///
/// **Failures.** If the daemon is absent or dies, `failed` reports it, and browsing is tried again after 0.5 s, then 1,
/// 2, 4 … at most 30 seconds. Services already found stay found meanwhile. When browsing has begun again, the ones
/// still there give no second `found` (but `updated`, if something changed), and those not seen within 6 seconds
/// are `gone`. A service that cannot be resolved is tried again with the same growing delay.
///
/// **Limits.** It uses at most 7 threads and D-Bus connections (of which a user may have 256), however many services there
/// are: one to browse, one for each service being resolved or watched for changes, two for each host. While that is
/// enough for all, changes are reported at once. Otherwise services and hosts take turns, one each second, or fewer if
/// each has its turn within 30 seconds all the same. A changed TXT record, host, port or address is then reported within
/// a minute for up to 30 services and hosts without a watch, and a second later for each further one, provided that the
/// hosts answer. A service that appears is resolved before any turn; a new stream of ``events`` has 64 turns taken at
/// once. More than 4096 services are not listed.
public final class ServiceBrowser: Sendable {
    /// What happens to the services of the type.
    public enum Event: Sendable {
        /// A service is there.
        case found(ResolvedService)
        /// A service that was found has another TXT record, host, port or set of addresses.
        case updated(ResolvedService)
        /// A service that was found or unresolved is no longer listed.
        case gone(ServiceInstance)
        /// A service is listed but could not be resolved; it is tried again. For a service that was found before, this
        /// is only reported if the second attempt fails too.
        case unresolved(ServiceInstance, ZeroconfError)
        /// Browsing does not work; the next attempt comes after the given time.
        case failed(ZeroconfError, retryIn: Duration)
    }

    /// The type of the services.
    public let type: ServiceType

    private let driver: MachineDriver<BrowserMachine>

    /// Prepares to browse; nothing happens before someone asks for ``events``.
    ///
    /// - Parameters:
    ///   - type: the type of the services.
    ///   - logger: receives failures as warnings and details at debug level; without one nothing is logged.
    public init(type: ServiceType, logger: Logger? = nil) {
        self.type = type
        let machine = BrowserMachine(type: type)
        driver = MachineDriver(machine, label: "zeroconf.browser", logger: logger, runsOnDemand: true)
    }

    /// The events from now on, a separate stream for each caller; it begins with a `found` for every known service.
    ///
    /// It ends after ``stop()`` and when 4096 events are buffered in it.
    public func events() -> AsyncStream<Event> { driver.subscribe() }

    /// The same until the first answers are in, which takes a second, and what they list is resolved or cannot be.
    package func survey() -> AsyncStream<Event> { driver.subscribe(isSurvey: true) }

    /// Ends browsing and all streams for good, and returns when the library has released everything.
    ///
    /// That takes a few milliseconds, or up to 25 seconds (D-Bus's limit) for every two lookups if the daemon hangs.
    public func stop() async {
        await driver.stop()
    }
}
