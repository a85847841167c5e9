import Logging

/// Publishes one service in the domain `local.` and keeps it published.
///
/// ```swift
/// let publisher = try ServicePublisher(name: "Rover", type: .tcp("robot"), port: 7000, txt: ["model": "R2"])
/// publisher.start()
/// for await event in publisher.events() { print(event) }
/// ```
/// If the name is taken on this host, the publisher tries "Rover (2)", "Rover (3)" … within the 63 bytes that a name
/// may have; if another host has it, the daemon picks the name (Avahi: "Rover #2"). A failure, such as a daemon that is
/// absent or dies, is reported. Publishing is then retried with the last published name after 0.5 s, then 1, 2, 4 … at
/// most 30 seconds, until it is stopped.
///
/// The service is withdrawn by ``stop()``, or when the publisher is released.
public final class ServicePublisher: Sendable {
    /// A change of the publication, or a failure.
    public enum Event: Sendable {
        /// The service is on the network under this name. Reported again when publishing works again after a failure.
        case published(name: String)
        /// The name was changed while the service was published, because another host has the old one.
        case renamed(from: String, to: String)
        /// The service is not on the network; the next attempt comes after the given time.
        case failed(ZeroconfError, retryIn: Duration)
    }

    /// The requested name.
    public let name: String
    /// The service's type.
    public let type: ServiceType
    /// The service's port.
    public let port: Int

    private let driver: MachineDriver<PublisherMachine>

    /// Creates a publisher. It publishes nothing before ``start()``.
    ///
    /// - Parameters:
    ///   - name: the name that users see, 1 to 63 bytes of UTF-8 without control characters.
    ///   - type: the service's type.
    ///   - port: 1...65535. The port is announced, not opened.
    ///   - txt: the data that a browser can show before it connects.
    ///   - reach: where the service is published.
    ///   - logger: receives failures as warnings and details at debug level; without one nothing is logged.
    /// - Throws: ``ZeroconfError/Code/invalidName``, ``ZeroconfError/Code/invalidPort`` or
    ///   ``ZeroconfError/Code/invalidTXTRecord``.
    public init(
        name: String, type: ServiceType, port: Int, txt: TXTRecord = [:], reach: ServiceReach = .network,
        logger: Logger? = nil
    ) throws(ZeroconfError) {
        try ServiceName.check(name)
        guard (1...65535).contains(port) else {
            throw ZeroconfError(.invalidPort, "cannot publish port \(port): use one of 1 to 65535")
        }
        self.name = name
        self.type = type
        self.port = port
        let machine = PublisherMachine(name: name, type: type, port: port, txt: try txt.encoded(), reach: reach)
        driver = MachineDriver(machine, label: "zeroconf.publisher", logger: logger, runsOnDemand: false)
    }

    deinit {
        driver.end()
    }

    /// Returns a stream of the events from now on, separate for each caller. It begins with `.published` if the service
    /// is published.
    ///
    /// The stream ends after ``stop()``, when the publisher is released, or when it holds 4096 unread events.
    public func events() -> AsyncStream<Event> { driver.subscribe() }

    /// Begins to publish and returns at once. A second call does nothing.
    public func start() {
        driver.send(.start)
    }

    /// Changes the TXT record of the service, published or not.
    ///
    /// - Throws: ``ZeroconfError/Code/invalidTXTRecord``; the service then keeps its record.
    public func update(txt: TXTRecord) throws(ZeroconfError) {
        _ = try txt.encoded()
        driver.send(.update(txt))
    }

    /// Withdraws the service permanently and returns when the library has released it.
    ///
    /// That takes a few milliseconds, or up to 25 seconds (D-Bus's limit) if the daemon hangs.
    public func stop() async {
        await driver.stop()
    }
}
