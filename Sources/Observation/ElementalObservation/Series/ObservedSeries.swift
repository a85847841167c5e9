import ElementalFollowing
public import ElementalWire
import Support

#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Date
#else
public import struct Foundation.Date
#endif

/// An element's values over time, for a chart: those that the service has kept, and those that follow.
///
/// ```swift
/// let power = meter.series(of: Meter.power, over: .seconds(3600))
/// Chart(power.points) { point in
///     LineMark(
///         x: .value("Time", point.date), y: .value("Power", point.value), series: .value("Part", point.segment))
/// }
/// ```
/// There are never more than ``maximumCount`` points. Of more values the least and the greatest of each interval of time remain,
/// in their order, and the newest. A view that reads the points is invalidated at most once a display frame. Keep the series as
/// long as the chart is shown: it ends when it is released.
@MainActor
@Observable
public final class ObservedSeries {
    /// A value of a series, for a chart.
    public struct Point: Sendable, Hashable, Identifiable {
        /// Rises from point to point.
        public let id: Int
        /// When it was measured, by this machine's time of day; when it came, if that is not known.
        public let date: Date
        /// The number, or a vector's first component.
        public var value: Double { self[0] }
        /// Which part of the line it belongs to: where values are missing, another begins.
        public let segment: Int
        private let numbers: SIMD4<Double>

        init(_ point: Decimation.Point, _ date: Date, _ segment: Int) {
            (id, self.date, self.segment, numbers) = (point.number, date, segment, point.numbers)
        }

        /// A component of a vector, from 0 to 3: x, y, z, w. NaN for those that it does not have.
        public subscript(component: Int) -> Double { numbers[component] }
    }

    /// The element.
    @ObservationIgnored public let element: ElementDefinition
    /// How far the points reach into the past.
    @ObservationIgnored public let span: Duration
    /// The number of points that is never exceeded.
    @ObservationIgnored public let maximumCount: Int
    /// The points in the order of their times.
    public private(set) var points: [Point] = []
    /// Whether the service keeps the element's values. If it does not, the points begin when the series does. `nil` before
    /// that is known, at the latest with the first value.
    public private(set) var isKept: Bool?

    @ObservationIgnored private let inbox: Inbox<SeriesContents>
    // Ends with the series, whose `deinit` may run on any thread.
    @ObservationIgnored private let following = Locked<Task<Void, Never>?>(nil)
    /// The time of day, in seconds since 1970, when this machine's clock was zero.
    @ObservationIgnored private var epoch = -Double.infinity

    init(_ element: ElementDefinition, over span: Duration, maximumCount: Int, frame: Duration) {
        let contents = SeriesContents(over: span, maximumCount: maximumCount)
        (self.element, self.span, self.maximumCount) = (element, span, contents.decimation.maximumCount)
        inbox = Inbox(contents, frame: frame)
        inbox.onArrival { [weak self] in
            Task { @MainActor in self?.show() }
        }
    }

    deinit { following.withLock { $0 }?.cancel() }

    /// Follows the element of a device that has connected for the first time, or again after an end.
    func follow(_ element: ElementDefinition, of device: ElementalDevice) {
        let task = Task.detached { [inbox] in await SeriesContents.fill(inbox, element, of: device) }
        following.withLock { following in
            following?.cancel()
            following = task
        }
    }

    private func show() {
        let (points, isKept) = inbox.take { ($0.decimation.points, $0.isKept) }
        let epoch = MeasurementTime(microseconds: 0).secondsHere
        // Unless the time of day was set, points stay where they are.
        if abs(epoch - self.epoch) > 0.01 { self.epoch = epoch }
        var segment = 0
        self.points = points.map { point in
            if point.isInterrupted { segment = point.number }
            let seconds = self.epoch + Double(point.time) / 1e6
            return Point(point, Date(timeIntervalSince1970: seconds), segment)
        }
        if isKept != self.isKept { self.isKept = isKept }
    }
}

extension ObservedDevice {
    /// An element's values over time, for a chart: see ``ObservedSeries``.
    ///
    /// It is filled with what the service has kept (``ElementDefinition/history``) and then goes on with each value; where the
    /// service keeps none, it begins with the newest one. Elements that are neither a number nor a vector have no points.
    ///
    /// - Parameters:
    ///   - span: how far it reaches into the past.
    ///   - maximumCount: of the points, at least 5.
    public func series(
        of element: ElementDefinition, over span: Duration, maximumCount: Int = 600
    ) -> ObservedSeries {
        begin()
        let new = ObservedSeries(element, over: span, maximumCount: maximumCount, frame: pace.frame)
        series.removeAll { $0.model == nil }
        series.append(WeakSeries(model: new))
        if let device { new.follow(definition(of: element), of: device) }
        return new
    }

    /// The device has connected for the first time, or again after an end.
    func followSeries(_ device: ElementalDevice) {
        for each in series {
            guard let series = each.model else { continue }
            series.follow(definition(of: series.element), of: device)
        }
    }
}

struct WeakSeries {
    weak var model: ObservedSeries?
}
