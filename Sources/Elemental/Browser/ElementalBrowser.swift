public import Logging
import Zeroconf

/// Finds element services as they come and go.
///
/// ```swift
/// let browser = ElementalBrowser("screen_control")
/// let device = try await browser.firstService().connect(as: "Rob's iPhone", elements: Lamp.all)
/// ```
/// It looks while one of its streams is iterated, once for all of them. A program may have any number of browsers.
public final class ElementalBrowser: Sendable {
    /// What happens on the network.
    public enum Event: Sendable {
        /// A service is there, once however many interfaces and addresses it has.
        case found(DiscoveredService)
        /// A service's addresses, port, host or TXT record changed.
        case updated(DiscoveredService)
        /// A service is gone. A host that vanished without a word stays listed until its records run out.
        case gone(service: String, name: String)
        /// A service is listed but does not answer when asked for its address; the browser goes on asking.
        case unresolved(service: String, name: String, ElementalError)
        /// Looking does not work now, most often because the Zeroconf daemon is not running; the next attempt comes
        /// after the given time.
        case failed(ElementalError, retryIn: Duration)
    }

    /// The name of the services looked for, or `nil` for all element services.
    public let service: String?
    private let browser: Result<ServiceBrowser, ElementalError>

    /// A browser for the services of one name, such as `robot`, or for all element services of this framework.
    ///
    /// An older ElementalController's service is found by its name only.
    public init(
        _ service: String? = nil,
        logger: Logger = Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        self.service = service
        do throws(ZeroconfError) {
            let type = if let service { try ServiceType.tcp(service) } else { try ServiceTXT.commonType() }
            browser = .success(ServiceBrowser(type: type, logger: logger))
        } catch {
            browser = .failure(ElementalError(.invalidValue, error.message))
        }
    }

    /// Looks for services until the iteration ends or its task is cancelled. It begins with those that are known
    /// already, where another stream of this browser is iterated.
    ///
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/invalidValue`` if no service can have that name.
    public func events() throws(ElementalError) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        let events = try browser.get().events
        let task = Task {
            var names: [ServiceInstance: DiscoveredService] = [:]
            for await event in events {
                continuation.yield(Self.translate(event, &names))
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
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/serviceNotFound``, naming the services that were
    ///   found instead; ``ElementalError/Code/discoveryFailed`` if looking did not work;
    ///   ``ElementalError/Code/cancelled``.
    public func firstService(
        named name: String? = nil, timeout: Duration = .seconds(5)
    ) async throws(ElementalError) -> DiscoveredService {
        let events = try events()
        let search = ServiceSearch(service: service, name: name, timeout: timeout)
        return try await search.run(events)
    }

    private static func translate(
        _ event: ServiceBrowser.Event, _ names: inout [ServiceInstance: DiscoveredService]
    ) -> Event {
        switch event {
        case .found(let resolved):
            let service = DiscoveredService(resolved)
            names[resolved.instance] = service
            return .found(service)
        case .updated(let resolved):
            let service = DiscoveredService(resolved)
            names[resolved.instance] = service
            return .updated(service)
        case .gone(let instance):
            let known = names.removeValue(forKey: instance)
            return .gone(service: known?.service ?? instance.type.name, name: known?.name ?? instance.name)
        case .unresolved(let instance, let error):
            let known = names[instance]
            return .unresolved(
                service: known?.service ?? instance.type.name, name: known?.name ?? instance.name,
                ElementalError(.discoveryFailed, error.message))
        case .failed(let error, let delay):
            return .failed(ElementalError(.discoveryFailed, error.message), retryIn: delay)
        }
    }
}
