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
    private let services = Locked<[ServiceKey: ServiceSeries]>([:])
    private let now: @Sendable () -> Double

    /// The maximum number of services that have series; further ones are left out.
    package static let maximumServiceCount = 256

    package convenience init() { self.init { WallClock.seconds } }

    /// - Parameter now: the time in seconds since 1970.
    init(now: @escaping @Sendable () -> Double) { self.now = now }

    /// Notes an event. It may be called from any thread, and does not wait for a scrape; the events of one service come
    /// in their order.
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
            // What it holds is released without the lock.
            _ = services.withLock { $0.removeValue(forKey: key) }
        case .state(let key, _): follow(key) { $0.disconnect() }
        case .history, .refusal, .leftOut, .browsingFailed, .browsingWorks, .tooMany: break
        }
    }

    /// Changes a service's series, which are made where there are none and there is room.
    private func follow(_ key: ServiceKey, _ change: (inout ServiceSeries) -> Void) {
        services.withLock { services in
            guard services[key] != nil || services.count < Self.maximumServiceCount else { return }
            change(&services[key, default: ServiceSeries(key)])
        }
    }

    /// The metrics in Prometheus' text format, version 0.0.4. The services' own order decides that of the series, and the
    /// catalogue's that of the elements.
    package func text() -> [UInt8] {
        // Only a reference is taken while events wait.
        MetricsText(services.withLock { $0 }.sorted { $0.key < $1.key }.map(\.value)).bytes
    }

    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"
}
