internal import Elemental
internal import ElementalFollowing
import ElementalWire
import NIOCore
import Support
internal import WebServer

/// Fills pages' plots with the values that services keep.
///
/// Requests of several pages for the same plot share a fill until it starts. One fill runs per service, and
/// ``maximumRunningCount`` in all; the others wait in their order. A fill decimates while it receives, so that it holds
/// ``pointCount`` points and one answer of the service. It is cancelled when no page waits for it. The type belongs to
/// the board's event loop.
final class PlotFills {
    private final class Fill {
        let place: ElementPlace
        let seconds: Int
        let element: ElementDefinition
        let device: ElementalDevice
        /// By the numbers of their sockets.
        var viewers: [UInt64: Viewer]
        var task: Task<Void, Never>?
        var deadline: Scheduled<Void>?

        init(_ place: ElementPlace, _ seconds: Int, _ element: ElementDefinition, _ device: ElementalDevice) {
            (self.place, self.seconds, self.element, self.device, viewers) = (place, seconds, element, device, [:])
        }

        func isSame(as other: Fill) -> Bool {
            place == other.place && seconds == other.seconds && device === other.device
        }
    }

    static let maximumRunningCount = 4
    /// A page that waits for this many fills gets no more.
    static let maximumWaitingCount = 128
    static let pointCount = 1200
    /// A fill that takes longer ends with what it has.
    static let timeLimit = TimeAmount.seconds(60)

    private let eventLoop: any EventLoop
    private var waiting: [Fill] = []
    /// By their services' numbers.
    private var running: [UInt32: Fill] = [:]

    init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Fills a page's plot with the values of the last seconds, in place of its earlier request for the same plot.
    func ask(
        _ place: ElementPlace, _ seconds: Int, _ element: ElementDefinition, _ device: ElementalDevice,
        for viewer: Viewer
    ) {
        leave(viewer) { $0 == place }
        guard waiting.count(where: { $0.viewers[viewer.socket.id] != nil }) < Self.maximumWaitingCount,
            viewer.fills.take(at: .now())
        else { return viewer.socket.send(PageMessage.past(place, element.type, [])) }
        wait(Fill(place, seconds, element, device), for: viewer)
        start()
    }

    private func wait(_ fill: Fill, for viewer: Viewer) {
        if let same = waiting.first(where: fill.isSame) {
            same.viewers[viewer.socket.id] = viewer
        } else {
            fill.viewers[viewer.socket.id] = viewer
            waiting.append(fill)
        }
    }

    /// Removes a page from the fills of these places.
    func leave(_ viewer: Viewer, _ isLeft: (ElementPlace) -> Bool = { _ in true }) {
        for fill in waiting + running.values where isLeft(fill.place) {
            fill.viewers[viewer.socket.id] = nil
            if fill.viewers.isEmpty { fill.task?.cancel() }
        }
        waiting.removeAll { $0.viewers.isEmpty }
    }

    /// Drops the fills of a service that has gone or has another catalogue now.
    func remove(service: UInt32) {
        waiting.removeAll { $0.place.service == service }
        running[service]?.viewers = [:]
        running[service]?.task?.cancel()
    }

    /// - Returns: fills that have been cancelled.
    func end() -> [Task<Void, Never>] {
        waiting = []
        let tasks = running.values.compactMap(\.task)
        for task in tasks { task.cancel() }
        return tasks
    }

    /// Starts the fills that can run now. A page without room waits until it has some.
    func start() {
        var index = 0
        while index < waiting.count, running.count < Self.maximumRunningCount {
            let fill = waiting[index]
            let blocked = fill.viewers.filter { !$0.value.socket.isWritable }
            guard running[fill.place.service] == nil, blocked.count < fill.viewers.count else {
                index += 1
                continue
            }
            waiting.remove(at: index)
            for (id, viewer) in blocked {
                fill.viewers[id] = nil
                wait(Fill(fill.place, fill.seconds, fill.element, fill.device), for: viewer)
            }
            run(fill)
        }
    }

    private func run(_ fill: Fill) {
        running[fill.place.service] = fill
        let bound = NIOLoopBound((self, fill), eventLoop: eventLoop)
        let task = Task {
            [eventLoop, device = fill.device, element = fill.element, place = fill.place, seconds = fill.seconds] in
            let points = await PlotFills.points(of: element, at: device, seconds)
            let frame = PageMessage.past(place, element.type, points)
            await eventLoop.run {
                let (fills, fill) = bound.value
                fills.finish(fill, frame)
            }
        }
        fill.task = task
        fill.deadline = eventLoop.scheduleTask(in: Self.timeLimit) { task.cancel() }
    }

    private func finish(_ fill: Fill, _ frame: EncodedFrame) {
        fill.deadline?.cancel()
        running[fill.place.service] = nil
        for viewer in fill.viewers.values { viewer.socket.send(frame) }
        start()
    }

    /// Requests the values piece by piece: the next piece only when the one before is processed.
    private static func points(
        of element: ElementDefinition, at device: ElementalDevice, _ seconds: Int
    ) async -> [Decimation.Point] {
        var decimation = Decimation(maximumCount: pointCount)
        let start = MeasurementTime(microseconds: MeasurementTime.now.microseconds - Int64(seconds) * 1_000_000)
        do throws(ElementalError) {
            for try await item in device.anyHistory(of: element, from: .time(start), follows: false) {
                switch item {
                case .gap: decimation.interrupt()
                case .value(let value):
                    guard let numbers = value.value.plottedNumbers, let time = value.time?.time else { continue }
                    decimation.add(numbers, at: min(time, .now).microseconds)
                }
            }
        } catch {
            // The service keeps no values, keeps none for this client, is gone or is too slow. Use what has arrived.
        }
        return decimation.points
    }
}

extension PageMessage {
    /// Values that a service has kept: each an age in milliseconds, and its numbers. A row with only an age, that of
    /// the value before it, marks a gap.
    static func past(_ place: ElementPlace, _ type: ElementType, _ points: [Decimation.Point]) -> EncodedFrame {
        let rows = rows(points, type, now: MeasurementTime.now.microseconds)
        return frame(
            "past", of: place.service,
            [("id", .integer(Int(place.element))), ("c", .integer(clock)), ("p", .array(rows))])
    }

    static func rows(_ points: [Decimation.Point], _ type: ElementType, now: Int64) -> [JSONText] {
        let count = type.isVector ? type.floatCount ?? 1 : 1
        var rows: [JSONText] = []
        var last: JSONText?
        for point in points {
            if point.isInterrupted, let last { rows.append(.array([last])) }
            let age = JSONText.integer(Int(max(0, now - point.time) / 1000))
            rows.append(.array([age] + (0..<count).map { JSONText(point.numbers[$0], of: type) }))
            last = age
        }
        return rows
    }
}

extension JSONText {
    /// Writes the number with as many digits as the element's type has.
    fileprivate init(_ number: Double, of type: ElementType) {
        self = number.isFinite ? .number(type.text(of: number)) : JSONText(number)
    }
}
