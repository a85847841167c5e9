internal import Elemental
package import ElementalFollowing
internal import Support

/// The services that sessions follow, their elements and their traffic as metrics for Prometheus.
///
/// ```swift
/// let metrics = ServiceMetrics()
/// sessions.onEvent { metrics.note($0) }
/// ```
/// A service that is gone takes its series with it. One that is away keeps its counters, which never go back, and says
/// with `elemental_up` that its values are not known.
package final class ServiceMetrics: Sendable {
    private typealias Service = Locked<ServiceSeries>

    /// Each has a lock of its own, so that services on different event loops do not wait for each other.
    private let services = Locked<[ServiceKey: Service]>([:])
    private let now: @Sendable () -> Double

    /// The most services whose series there are; further ones are left out.
    package static let maximumServiceCount = 256

    package convenience init() { self.init { WallClock.seconds } }

    /// - Parameter now: the time in seconds since 1970.
    init(now: @escaping @Sendable () -> Double) { self.now = now }

    /// Notes an event. It may be called from any thread, and does not wait for a scrape; the events of one service come
    /// in their order.
    package func note(_ event: FollowerEvent) {
        switch event {
        case .value(let key, let element, let value):
            let time = now()
            service(key)?.withLock { $0.note(element.id, value, at: time) }
        case .roundTrip(let key, let duration):
            service(key)?.withLock { $0.note(roundTrip: duration) }
        case .place(let key, _): _ = follow(key)
        case .state(let key, let state): note(state, of: key)
        case .refusal, .leftOut, .browsingFailed, .browsingWorks, .tooMany: break
        }
    }

    private func note(_ state: FollowedState, of key: ServiceKey) {
        switch state {
        case .connected(let device, let catalogue):
            follow(key)?.withLock { $0.connect(device, catalogue) }
        case .connecting, .away, .refused:
            follow(key)?.withLock { $0.disconnect() }
        case .gone:
            // What it holds is released without the lock.
            _ = services.withLock { $0.removeValue(forKey: key) }
        }
    }

    private func service(_ key: ServiceKey) -> Service? { services.withLock { $0[key] } }

    /// - Returns: `nil` if there are too many.
    private func follow(_ key: ServiceKey) -> Service? {
        services.withLock { services in
            if let known = services[key] { return known }
            guard services.count < Self.maximumServiceCount else { return nil }
            let labels = MetricLabels().with("service", key.service ?? "").with("device", key.name)
            let service = Service(ServiceSeries(labels: labels))
            services[key] = service
            return service
        }
    }

    /// The metrics in Prometheus' text format, version 0.0.4. The services' own order decides that of the series, and the
    /// catalogue's that of the elements.
    ///
    /// Only references are taken while events wait; the text is made of them afterwards.
    package func text() -> [UInt8] {
        let services = services.withLock { $0 }.sorted { $0.key < $1.key }
        return MetricsSnapshot(services.map { $0.value.withLock { $0 } }).text
    }

    /// The content type of ``text()``.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"
}
