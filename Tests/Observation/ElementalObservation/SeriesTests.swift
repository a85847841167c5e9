import Elemental
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalObservation

/// An element's values over time, for a chart.
@MainActor
@Suite(.backstop)
struct SeriesTests {
    private static let power = Element<Double>(1, "Power", access: .read).withTimes.withHistory(HistoryLimits())
    private static let tilt = Element<Vector3>(2, "Tilt", transport: .udp, access: .read).withHistory(HistoryLimits())
    private static let plain = Element<Int32>(3, "Plain")
    private static let title = Element<String>(4, "Title").withHistory(HistoryLimits())
    private static let elements: ElementCatalogue = [power, tilt, plain, title]

    private static func model(
        of service: ElementalService, pace: ObservationPace = ObservationPace()
    ) throws -> ObservedDevice {
        Lamp.model(at: try #require(service.port), elements: nil, pace: pace)
    }

    private static func values(_ series: ObservedSeries) -> [Double] { series.points.map(\.value) }

    @Test
    func thePastAndWhatFollows() async throws {
        try await Lamp.with(elements: Self.elements) { service in
            let hour: Int64 = 3_600_000_000
            let now = MeasurementTime.now.microseconds
            try service.send(-99, to: Self.power, at: MeasurementTime(microseconds: now - 2 * hour))
            for index in 0..<5000 {
                let time = MeasurementTime(microseconds: now - hour / 2 + Int64(index) * 300_000)
                let value = index == 1234 ? 1000 : index == 1235 ? -1000 : index == 4999 ? 9 : Double(index % 7)
                _ = try service.send(value, to: Self.power, at: time)
            }
            let model = try Self.model(of: service)
            let series = model.series(of: Self.power, over: .seconds(3600), maximumCount: 100)
            let watch = Watch { _ = series.points }
            try await eventually { Self.values(series).last == 9 }
            #expect((26...100).contains(series.points.count) && series.isKept == true)
            #expect(Self.values(series).max() == 1000 && Self.values(series).min() == -1000)
            #expect(zip(series.points, series.points.dropFirst()).allSatisfy { $0.id < $1.id && $0.date <= $1.date })
            #expect(Set(series.points.map(\.segment)) == [0])
            let ago = try #require(series.points.first).date.timeIntervalSinceNow
            #expect((-1800 - 120 ... -1790).contains(ago), "\(ago)")
            #expect(watch.count < 5000)
            try service.send(2000, to: Self.power)
            try await eventually { Self.values(series).last == 2000 }
            #expect(try #require(series.points.last).date.timeIntervalSinceNow < 1)
            #expect(series.points.count <= 100)
        }
    }

    @Test
    func vectorsHaveComponents() async throws {
        try await Lamp.with(elements: Self.elements) { service in
            try service.send([1, 2, 3], to: Self.tilt)
            try service.send([4, 5, 6], to: Self.tilt)
            let model = try Self.model(of: service)
            let series = model.series(of: Self.tilt, over: .seconds(3600))
            try await eventually { series.points.count == 2 }
            #expect(series.points.map { [$0[0], $0[1], $0[2]] } == [[1, 2, 3], [4, 5, 6]])
            #expect(series.points[0][3].isNaN && series.points[0].value == 1)
        }
    }

    @Test
    func whatIsNotKeptIsCollected() async throws {
        try await Lamp.with(elements: Self.elements) { service in
            try service.send(1, to: Self.plain)
            try service.send(2, to: Self.plain)
            let model = try Self.model(of: service)
            let series = model.series(of: Self.plain, over: .seconds(3600))
            let texts = model.series(of: Self.title, over: .seconds(3600))
            try await eventually { Self.values(series) == [2] }
            #expect(series.isKept == false)
            try service.send(3, to: Self.plain)
            try service.send("text", to: Self.title)
            try await eventually { Self.values(series) == [2, 3] && model[Self.title] == "text" }
            #expect(texts.points.isEmpty)
        }
    }

    /// The second service has other values, and the model connects to it by itself.
    @Test(arguments: [true, false])
    func whereValuesAreMissingAnotherSegmentBegins(isKept: Bool) async throws {
        let port = try PortLease.port()
        let model = Lamp.model(at: port, elements: nil)
        let element: ElementDefinition = isKept ? Self.power : Self.plain
        func send(_ value: Double, _ service: ElementalService) throws {
            try service.send(isKept ? .double(value) : .int32(Int32(value)), to: element)
        }
        let series = try await Lamp.with(port: port, elements: Self.elements) { service in
            try send(1, service)
            let series = model.series(of: element, over: .seconds(3600))
            try await eventually { Self.values(series) == [1] }
            try send(2, service)
            try await eventually { Self.values(series) == [1, 2] }
            return series
        }
        try await eventually { !model.state.isConnected }
        try await Lamp.with(port: port, elements: Self.elements) { service in
            try send(3, service)
            try await eventually { Self.values(series) == [1, 2, 3] }
            let segments = series.points.map(\.segment)
            #expect(segments[0] == segments[1] && segments[1] != segments[2])
            // An end that the program wants is one too.
            model.disconnect()
            try await eventually { if case .ended = model.state { true } else { false } }
            try send(4, service)
            model.connect()
            try await eventually { Self.values(series) == [1, 2, 3, 4] }
        }
    }

    @Test
    func thereIsOneUpdateAFrame() async throws {
        try await Lamp.with(elements: Self.elements) { service in
            var pace = ObservationPace()
            pace.frame = .seconds(100_000)
            let slow = try Self.model(of: service, pace: pace)
            let fast = try Self.model(of: service)
            let (one, other) = (
                slow.series(of: Self.power, over: .seconds(60)), fast.series(of: Self.power, over: .seconds(60))
            )
            let watch = Watch { _ = one.points }
            for value in 1...1000 {
                try service.send(Double(value), to: Self.power)
                if value.isMultiple(of: 100) { try await eventually { Self.values(other).last == Double(value) } }
            }
            #expect(watch.count <= 1)
            #expect(other.points.count <= 600 && Self.values(other).min() == 1)
        }
    }

    @Test
    func itEndsWhenItIsReleasedAndWithItsModel() async throws {
        try await Lamp.with(elements: Self.elements) { service in
            try service.send(1, to: Self.power)
            weak var released: ObservedSeries?
            weak var device: ElementalDevice?
            var kept: [ObservedSeries] = []
            do {
                let model = try Self.model(of: service)
                kept = [Self.power, Self.plain].map { model.series(of: $0, over: .seconds(60)) }
                do {
                    let series = model.series(of: Self.power, over: .seconds(60))
                    released = series
                    try await eventually { Self.values(series) == [1] && Self.values(kept[0]) == [1] }
                }
                try await eventually("the series is gone") { released == nil }
                device = model.device
                #expect(device != nil)
            }
            try await eventually("the connection is closed") { service.devices.isEmpty }
            try await eventually("the device is gone") { device == nil }
            #expect(Self.values(kept[0]) == [1])
        }
    }
}
