internal import Elemental
package import ElementalFollowing
internal import Support

/// The followed services, their elements and their traffic as metrics for Prometheus.
///
/// ```swift
/// let metrics = ServiceMetrics()
/// sessions.onEvent { metrics.note($0) }
/// ```
/// The series of a service end when it is gone. A service that is away keeps its counters, which never decrease, and
/// `elemental_up` shows that its values are unknown.
package final class ServiceMetrics: Sendable {
    private let services = Locked<[ServiceKey: ServiceSeries]>([:])
    private let now: @Sendable () -> Double

    /// The maximum number of services with series; further ones are left out.
    package static let maximumServiceCount = 256

    package convenience init() { self.init { WallClock.seconds } }

    /// - Parameter now: the time in seconds since 1970.
    init(now: @escaping @Sendable () -> Double) { self.now = now }

    /// Records an event. It can be called from any thread and does not wait for a scrape. The events of one service
    /// must come in order.
    package func note(_ event: FollowerEvent) {
        switch event {
        case .value(let key, let element, let value, _):
            let time = now()
            services.withLock { $0[key]?.note(element.id, value, at: time) }
        case .roundTrip(let key, let duration): services.withLock { $0[key]?.roundTrips.add(duration) }
        case .place(let key, _): follow(key) { _ in }
        case .state(let key, .connected(let device, let catalogue)):
            follow(key) { $0.connect(device, catalogue) }
        case .state(let key, .gone):
            // The removed value is released after the lock.
            _ = services.withLock { $0.removeValue(forKey: key) }
        case .state(let key, _): follow(key) { $0.disconnect() }
        case .history, .refusal, .leftOut, .browsingFailed, .browsingWorks, .tooMany: break
        }
    }

    /// Changes a service's series, and creates them if there is room.
    private func follow(_ key: ServiceKey, _ change: (inout ServiceSeries) -> Void) {
        services.withLock { services in
            guard services[key] != nil || services.count < Self.maximumServiceCount else { return }
            change(&services[key, default: ServiceSeries(key)])
        }
    }

    /// Returns the metrics in Prometheus' text format, version 0.0.4, sorted by service key and then in the order of
    /// the catalogue.
    package func text() -> [UInt8] {
        // The lock is held only to copy a reference.
        MetricsText(services.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value)).bytes
    }

    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"
}
