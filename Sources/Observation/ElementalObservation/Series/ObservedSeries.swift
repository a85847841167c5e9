import ElementalFollowing
public import ElementalWire
import Support

#if canImport(FoundationEssentials)
public import struct FoundationEssentials.Date
#else
public import struct Foundation.Date
#endif

/// An element's values over time, for a chart: those that the service has kept, and new ones.
///
/// ```swift
/// let power = meter.series(of: Meter.power, over: .seconds(3600))
/// Chart(power.points) { point in
///     LineMark(
///         x: .value("Time", point.date), y: .value("Power", point.value), series: .value("Part", point.segment))
/// }
/// ```
/// There are at most ``maximumCount`` points. If there are more values, the minimum and the maximum of each interval of
/// time remain, in their order, and the newest. A view that reads the points is invalidated at most once per display
/// frame. Keep the series while the chart is shown: it ends when it is released.
@MainActor
@Observable
public final class ObservedSeries {
    /// A value of a series, for a chart.
    public struct Point: Sendable, Hashable, Identifiable {
        /// An increasing number.
        public let id: Int
        /// When the value was measured, by this machine's wall clock; when it arrived, if that is unknown.
        public let date: Date
        /// The number, or a vector's first component.
        public var value: Double { self[0] }
        /// The part of the line to which the point belongs: another one begins where values are missing.
        public let segment: Int
        private let numbers: SIMD4<Double>

        init(_ point: Decimation.Point, _ date: Date, _ segment: Int) {
            (id, self.date, self.segment, numbers) = (point.number, date, segment, point.numbers)
        }

        /// Returns a component of a vector, from 0 to 3: x, y, z, w. Returns NaN for a component that it does not have.
        public subscript(component: Int) -> Double { numbers[component] }
    }

    /// The element.
    @ObservationIgnored public let element: ElementDefinition
    /// The time span of the points, up to now.
    @ObservationIgnored public let span: Duration
    /// The maximum number of points.
    @ObservationIgnored public let maximumCount: Int
    /// The points in the order of their times.
    public private(set) var points: [Point] = []
    /// Whether the service keeps the element's values. If not, the points begin with the series. `nil` before that is
    /// known, at the latest with the first value.
    public private(set) var isKept: Bool?

    @ObservationIgnored private let inbox: Inbox<SeriesContents>
    // Ends with the series, whose `deinit` may run on any thread.
    @ObservationIgnored private let following = Locked<Task<Void, Never>?>(nil)
    /// The wall clock's time in seconds since 1970 at which this machine's monotonic clock was zero.
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

    /// Follows the element after the first connection of a device, or one after an end.
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
        // Points stay where they are, unless the wall clock was set.
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
    /// Returns an element's values over time, for a chart: see ``ObservedSeries``.
    ///
    /// It begins with the values that the service has kept (``ElementDefinition/history``) and continues with each new
    /// one. If the service keeps none, it begins with the newest one. Elements that are neither a number nor a vector
    /// have no points.
    ///
    /// - Parameters:
    ///   - span: the time span of the points, up to now.
    ///   - maximumCount: the maximum number of points, at least 5.
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

    /// Follows all series after the first connection of a device, or one after an end.
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
