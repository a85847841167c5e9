public import Logging
import Support
import Zeroconf

/// Discovers element services as they appear and disappear.
///
/// ```swift
/// let browser = ElementalBrowser("screen_control")
/// let device = try await browser.firstService().connect(as: "Rob's iPhone", elements: Lamp.all)
/// ```
/// It browses while one of its streams is iterated, once for all of them.
public final class ElementalBrowser: Sendable {
    /// A change on the network.
    public enum Event: Sendable {
        /// A service appeared. Reported once, however many interfaces and addresses it has.
        case found(DiscoveredService)
        /// A service's addresses, port, host or TXT record changed.
        case updated(DiscoveredService)
        /// A service disappeared. A host that vanished without notice stays listed until its records expire.
        case gone(service: String, name: String)
        /// A service is listed but cannot be resolved; the browser keeps trying.
        case unresolved(service: String, name: String, ElementalError)
        /// Browsing fails at present, usually because the Zeroconf daemon is not running; the next attempt follows
        /// after the given delay.
        case failed(ElementalError, retryIn: Duration)
    }

    /// The name of the services browsed for, or `nil` for all element services.
    public let service: String?
    private let browser: Result<ServiceBrowser, ElementalError>
    private let logger: Logger

    /// A stream whose buffer exceeds this finishes, rather than use unbounded memory or lose events unnoticed.
    static let bufferedEvents = 4096

    /// Creates a browser for the services of one name, such as `robot`, or for all element services of this framework.
    ///
    /// A browser for all services reports a service once its claim has been verified: the name under which it is listed
    /// resolves to the same host and port. It does not find a service of an older ElementalController, which is found
    /// by its own name only.
    public init(
        _ service: String? = nil,
        logger: Logger = Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.service = service
        self.logger = logger
        do throws(ZeroconfError) {
            let type = if let service { try ServiceType.tcp(service) } else { try ServiceTXT.commonType() }
            browser = .success(ServiceBrowser(type: type, logger: logger))
        } catch {
            browser = .failure(ElementalError(.invalidValue, error.message))
        }
    }

    /// Browses for services until the iteration ends or its task is cancelled. The stream starts with the services that
    /// are already known, if another stream of this browser is being iterated. A stream that ends although its task is
    /// not cancelled has overflowed its buffer of 4096 events: call this again for a new one.
    ///
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/invalidValue`` if the service name is invalid.
    public func events() throws(ElementalError) -> AsyncStream<Event> {
        stream(of: try browser.get().events())
    }

    /// Browses until the first answers have arrived, which takes a second, and have been resolved and verified.
    package func survey() throws(ElementalError) -> AsyncStream<Event> { stream(of: try browser.get().survey()) }

    private func stream(of events: AsyncStream<ServiceBrowser.Event>) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingOldest(Self.bufferedEvents))
        let isCommon = service == nil
        let emit = { @Sendable (event: Event) in
            if case .enqueued = continuation.yield(event) { true } else { false }
        }
        let task = Task { [logger] in
            if isCommon {
                await CommonListing.run(events, logger: logger, emit)
            } else {
                for await event in events where !emit(Event(event)) { break }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// Waits for the first service found, or the first with that name.
    ///
    /// - Parameters:
    ///   - name: the instance's name; `nil` for any.
    ///   - timeout: how long to look.
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/serviceNotFound``, naming the services that
    ///   were found instead; ``ElementalError/Code/discoveryFailed`` if browsing did not work;
    ///   ``ElementalError/Code/cancelled``.
    public func firstService(
        named name: String? = nil, timeout: Duration = .seconds(5)
    ) async throws(ElementalError) -> DiscoveredService {
        let findings = ServiceFindings(service: service, name: name, timeout: timeout)
        return try await Self.first(of: try events(), for: findings, within: timeout)
    }

    static func first(
        of events: AsyncStream<Event>, for findings: ServiceFindings, within timeout: Duration
    ) async throws(ElementalError) -> DiscoveredService {
        let findings = Locked(findings)
        let found = await withTaskGroup(of: DiscoveredService?.self) { group in
            group.addTask {
                for await event in events {
                    if let service = findings.withLock({ $0.record(event) }) { return service }
                }
                return nil
            }
            group.addTask {
                await Delay.wait(timeout)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        if let found { return found }
        if Task.isCancelled { throw ElementalError(.cancelled, "the search was cancelled") }
        throw findings.withLock { $0.error }
    }
}

extension ElementalBrowser.Event {
    init(_ event: ServiceBrowser.Event, as claim: ServiceInstance? = nil) {
        switch event {
        case .found(let resolved): self = .found(DiscoveredService(resolved, as: claim))
        case .updated(let resolved): self = .updated(DiscoveredService(resolved, as: claim))
        case .gone(let listed):
            let instance = claim ?? listed
            self = .gone(service: instance.type.name, name: instance.name)
        case .unresolved(let listed, let error):
            let instance = claim ?? listed
            self = .unresolved(
                service: instance.type.name, name: instance.name, ElementalError(.discoveryFailed, error.message))
        case .failed(let error, let delay):
            self = .failed(ElementalError(.discoveryFailed, error.message), retryIn: delay)
        }
    }
}

extension ElementalBrowser.Event: CustomStringConvertible {
    /// A line for a log: `found: robot/Rover at pi.local:41847`. Names from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .found(let service): "found: \(Self.place(of: service))"
        case .updated(let service): "updated: \(Self.place(of: service))"
        case .gone(let service, let name): "gone: \(service)/\(name)"
        case .unresolved(let service, let name, let error): "not resolved: \(service)/\(name): \(error)"
        case .failed(let error, let delay): "browsing failed: \(error); retrying in \(delay)"
        }
    }

    private static func place(of service: DiscoveredService) -> String {
        "\(service.service)/\(service.name) at \(service.host):\(service.port)"
    }
}
