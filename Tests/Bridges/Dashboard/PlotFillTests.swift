import Elemental
import ElementalFollowing
import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import Dashboard

/// Plots that are filled with the values that a service keeps, over real sockets.
@Suite(.backstop)
struct PlotFillTests {
    private static let power = Element<Float>(1, "Power", unit: "W", access: .read).withTimes
        .withHistory(HistoryLimits())
    private static let tilt = Element<Vector3>(2, "Tilt", access: .read).withTimes.withHistory(HistoryLimits())
    private static let plain = Element<Float>(3, "Plain", access: .read)
    private static let note = Element<String>(4, "Note", access: .read).withHistory(HistoryLimits())
    private static let elements: ElementCatalogue = [power, tilt, plain, note]

    private static func time(secondsAgo seconds: Int64) -> MeasurementTime {
        MeasurementTime(microseconds: MeasurementTime.now.microseconds - seconds * 1_000_000)
    }

    /// Asks for what is kept, and returns the ages and the numbers.
    private static func past(_ id: Int, seconds: Int, _ page: OpenPage) async throws -> [[Double]] {
        try page.send(#"{"t":"past","key":\#(page.key),"id":\#(id),"seconds":\#(seconds)}"#)
        return try rows(await page.socket.next("past") { $0.number("id") == Double(id) })
    }

    private static func rows(_ message: JSONLine) throws -> [[Double]] {
        let rows: [[Double]]? = message["p"]
        return try #require(rows)
    }

    @Test
    func whatIsKeptIsToldWithItsAge() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            for (index, ago) in [90_000, 4000, 3000, 30].enumerated() as EnumeratedSequence<[Int64]> {
                try fixture.service.send(Float(index), to: Self.power, at: Self.time(secondsAgo: ago))
            }
            try fixture.service.send([1, -2, 0.1], to: Self.tilt, at: Self.time(secondsAgo: 7))
            let page = try await fixture.openPage()
            let day = try await Self.past(1, seconds: 86_400, page)
            #expect(day.map { $0.dropFirst() } == [[1], [2], [3]])
            for (row, age) in zip(day, [4000, 3000, 30] as [Double]) {
                #expect((age * 1000 - 100...age * 1000 + 60_000).contains(row[0]), "\(row)")
            }
            let hour = try await Self.past(1, seconds: 3600, page)
            #expect(hour.map { $0.dropFirst() } == [[2], [3]])
            let tilt = try await Self.past(2, seconds: 60, page)
            #expect(tilt.map { $0.dropFirst() } == [[1, -2, 0.1]])
        }
    }

    @Test
    func whatHasNoPlotOrNoHistoryHasNoPast() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            try fixture.service.send(1, to: Self.plain)
            try fixture.service.send("text", to: Self.note)
            let page = try await fixture.openPage()
            for id in [1, 3, 4, 77] { #expect(try await Self.past(id, seconds: 60, page).isEmpty) }
            try page.send(#"{"t":"past","key":4711,"id":1,"seconds":60}"#)
            #expect(try Self.rows(await page.socket.next("past") { $0.number("key") == 4711 }).isEmpty)
        }
    }

    @Test
    func manyValuesBecomeFewAndThePeaksStay() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            let begin = Self.time(secondsAgo: 80_000).microseconds
            for index in 0..<8000 {
                let value: Float = index == 4321 ? 1000 : index == 4322 ? -1000 : Float(index % 10)
                let time = MeasurementTime(microseconds: begin + Int64(index) * 10_000_000)
                _ = try fixture.service.send(value, to: Self.power, at: time)
            }
            let page = try await fixture.openPage()
            let rows = try await Self.past(1, seconds: 86_400, page)
            #expect((300...PlotFills.pointCount).contains(rows.count), "\(rows.count)")
            #expect(rows.map { $0[1] }.max() == 1000 && rows.map { $0[1] }.min() == -1000)
            let ages = rows.map { $0[0] }
            #expect(ages == ages.sorted(by: >))
            #expect(rows.last?[1] == 9)
        }
    }

    /// A page that asks again and again before it is answered costs the service little.
    @Test
    func aThousandQuestionsAreNoThousandPulls() async throws {
        try await DashboardFixture.with(Self.elements) { fixture in
            for index in 0..<5000 { _ = try fixture.service.send(Float(index), to: Self.power) }
            let page = try await fixture.openPage()
            let other = try await fixture.openPage()
            _ = try await Self.past(1, seconds: 3600, page)
            let device = try #require(fixture.service.devices.first)
            let before = device.statistics.bytesReceived
            _ = try await Self.past(1, seconds: 3600, page)
            let onePull = device.statistics.bytesReceived - before
            #expect(onePull > 0)
            let ask = #"{"t":"past","key":\#(page.key),"id":1,"seconds":86400}"#
            for _ in 0..<20 {
                try page.socket.send(ask, ask, ask, ask, ask, ask, ask, ask)
                try other.socket.send(ask, ask, ask, ask, ask, ask, ask, ask)
            }
            for each in [page, other] {
                try each.send(#"{"t":"past","key":\#(page.key),"id":2,"seconds":60}"#)
                _ = try await each.socket.next("past") { $0.number("id") == 2 }
            }
            let all = device.statistics.bytesReceived - before
            #expect(all < 60 * onePull, "\(all) bytes, \(onePull) for one")
        }
    }

    /// Services that do not answer hold up as many fills as run at once, until the page that asked leaves.
    @Test
    func whatAPageAsksForEndsWithThePage() async throws {
        let mute = (0..<PlotFills.maximumRunningCount).map { _ in DashboardFixture.makeService(Self.elements) }
        for service in mute { try await service.start() }
        let ports = try mute.map { try #require($0.port) }
        try await DashboardFixture.with(Self.elements, others: ports) { fixture in
            try fixture.service.send(7, to: Self.power)
            let page = try await fixture.openPage()
            var pages: [OpenPage] = []
            for port in ports { pages.append(try await DashboardFixture.page(at: fixture.port, showing: port)) }
            let devices = try mute.map { try #require($0.devices.first) }
            for device in devices { device.pause() }
            func ask(_ key: Int) -> String { #"{"t":"past","key":\#(key),"id":1,"seconds":3600}"# }
            let greedy = try await fixture.page()
            for each in pages { try greedy.send(ask(each.key)) }
            try greedy.send(#"{"t":"ping","n":1}"#)
            _ = try await greedy.socket.next("pong")
            try page.send(ask(page.key))
            greedy.socket.close()
            let rows = try Self.rows(await page.socket.next("past"))
            #expect(rows.map { $0[1] } == [7])
            // The same with a page that closes the service.
            for each in pages { try each.socket.send(ask(each.key), #"{"t":"open","keys":[]}"#) }
            #expect(try await Self.past(1, seconds: 60, page).count == 1)
            for device in devices { device.resume() }
            #expect(try await Self.past(1, seconds: 3600, pages[0]).isEmpty)
        }
        for service in mute { await service.stop() }
    }

    @Test
    func gapsAreAgesWithoutNumbers() {
        var decimation = Decimation(maximumCount: 10)
        decimation.add([1, 2, .nan, .nan], at: 1_000_000)
        decimation.interrupt()
        decimation.add([0.1, .infinity, .nan, .nan], at: 3_000_000)
        func text(_ type: ElementType) -> String {
            JSONText.array(PageMessage.rows(decimation.points, type, now: 5_000_000)).text
        }
        #expect(text(.float2) == #"[[4000,1,2],[4000],[2000,0.1,"inf"]]"#)
        #expect(text(.double) == "[[4000,1],[4000],[2000,0.1]]")
    }
}
