import ElementalFollowing
import ElementalWire
import Foundation
import Testing

/// Few points of many values: the extremes and the order stay, and the bound holds.
struct DecimationTests {
    private static func scalar(_ number: Double) -> SIMD4<Double> { SIMD4(number, .nan, .nan, .nan) }

    private static func decimated(
        _ values: some Sequence<(time: Int64, value: Double)>, to maximumCount: Int
    ) -> Decimation {
        var decimation = Decimation(maximumCount: maximumCount)
        for (time, value) in values { decimation.add(scalar(value), at: time) }
        return decimation
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let values: [(time: Int64, value: Double)]

        init(_ name: String, _ count: Int, time: (Int64) -> Int64 = { $0 * 1000 }, value: (Int) -> Double) {
            testDescription = name
            values = (0..<count).map { (time(Int64($0)), value($0)) }
        }
    }

    /// Numbers that look random, the same at every run.
    private static func noise(_ index: Int) -> Double {
        Double((UInt64(index) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407) >> 40)
    }

    private static let cases = [
        Case("noise", 10_000) { noise($0) },
        Case("a single peak", 10_000) { $0 == 4321 ? 1 : 0 },
        Case("a single hole, last", 10_000) { $0 == 9999 ? -1 : 0 },
        Case("rising", 3000) { Double($0) },
        Case("falling", 3000) { -Double($0) },
        Case("constant", 3000) { _ in 7 },
        Case("few", 7) { Double($0) },
        Case("a burst, then seldom", 5000, time: { $0 < 4000 ? $0 : $0 * 1_000_000 }) { noise($0) },
        Case("before the machine was started", 5000, time: { ($0 - 2500) * 1_000_000 }) { noise($0) },
        Case("all at one time", 5000, time: { _ in 5 }) { noise($0) },
        Case("out of order", 5000, time: { $0 * 1000 - ($0 % 3) * 40_000 }) { noise($0) },
        Case("a time far ahead", 5000, time: { $0 == 100 ? 1 << 50 : $0 * 1000 }) { noise($0) },
        Case("extreme times", 5000, time: { $0 < 2500 ? .min + $0 : .max - 5000 + $0 }) { noise($0) },
    ]

    @Test("extremes and order stay, and there are never too many points", arguments: cases, [5, 6, 16, 100, 1200])
    func extremes(_ each: Case, _ maximumCount: Int) throws {
        var decimation = Decimation(maximumCount: maximumCount)
        var least = Double.infinity
        var greatest = -Double.infinity
        for (index, (time, value)) in each.values.enumerated() {
            decimation.add(Self.scalar(value), at: time)
            (least, greatest) = (min(least, value), max(greatest, value))
            if index.isMultiple(of: 97) || index + 1 == each.values.count {
                let points = decimation.points
                #expect(points.count == decimation.count && points.count <= maximumCount)
                #expect(points.map(\.numbers.x).min() == least)
                #expect(points.map(\.numbers.x).max() == greatest)
                #expect(points.last?.numbers.x == value)
            }
        }
        let points = decimation.points
        #expect(zip(points, points.dropFirst()).allSatisfy { $0.time <= $1.time && $0.number < $1.number })
        // Each is one of the values, with its time, or that of an earlier value with a later time.
        let limit: Int64 = 1 << 61
        let times = each.values.reduce(into: [Int64]()) {
            $0.append(max(min(max($1.time, -limit), limit - 1), $0.last ?? .min))
        }
        for point in points {
            #expect(each.values[point.number].value == point.numbers.x)
            #expect(times[point.number] == point.time)
        }
    }

    @Test(arguments: [5, 10, 600, 1200])
    func theBoundIsReachedExactly(_ maximumCount: Int) {
        let all = (0..<maximumCount).map { (time: Int64($0) * 1000, value: Self.noise($0)) }
        let decimation = Self.decimated(all, to: maximumCount)
        #expect(decimation.points.map(\.numbers.x) == all.map(\.value))
        let more = Self.decimated(all + [(time: Int64(maximumCount) * 1000, value: 0.5)], to: maximumCount)
        #expect(more.count <= maximumCount)
    }

    /// Of many values at equal distances at least a quarter of the bound is used.
    @Test(arguments: [100, 600, 1200], [2000, 5000, 20_000])
    func thereAreManyPoints(_ maximumCount: Int, _ count: Int) {
        let decimation = Self.decimated(
            (0..<count).map { (time: Int64($0) * 1000, value: Self.noise($0)) }, to: maximumCount)
        #expect(decimation.count >= maximumCount / 4, "\(decimation.count)")
    }

    @Test
    func componentsKeepTheirOwnExtremes() {
        var decimation = Decimation(maximumCount: 50)
        for index in 0..<5000 {
            decimation.add(
                SIMD4(index == 1234 ? 9 : 0, index == 1235 ? -9 : 0, Double(index), .nan), at: Int64(index) * 1000)
        }
        let points = decimation.points
        #expect(points.count <= 50)
        #expect(points.map(\.numbers.x).max() == 9 && points.map(\.numbers.x).min() == 0)
        #expect(points.map(\.numbers.y).max() == 0 && points.map(\.numbers.y).min() == -9)
        #expect(points.first?.numbers.z == 0 && points.last?.numbers.z == 4999)
        #expect(points.map(\.numbers.z) == points.map(\.numbers.z).sorted())
        #expect(points.allSatisfy { $0.numbers.w.isNaN })
    }

    @Test
    func whatIsNoNumberHidesNone() {
        var decimation = Decimation(maximumCount: 20)
        for index in 0..<1000 {
            let number = index == 500 ? 3 : index == 501 ? -3 : index.isMultiple(of: 2) ? Double.nan : 1
            decimation.add(SIMD4(number, index < 500 ? .nan : Double(index), .nan, .nan), at: Int64(index) * 1000)
        }
        let (first, second) = (decimation.points.map(\.numbers.x), decimation.points.map(\.numbers.y))
        #expect(first.filter { !$0.isNaN }.max() == 3 && first.filter { !$0.isNaN }.min() == -3)
        #expect(second.filter { !$0.isNaN }.min() == 500 && second.last == 999)
    }

    @Test
    func gapsStay() {
        var decimation = Decimation(maximumCount: 100)
        // Nothing is missing before the first value.
        decimation.interrupt()
        for index in 0..<10_000 {
            if index == 2000 || index == 7000 { decimation.interrupt() }
            decimation.add(Self.scalar(Self.noise(index)), at: Int64(index) * 1000)
        }
        let gaps = decimation.points.filter(\.isInterrupted)
        #expect(gaps.count == 2)
        for (gap, index) in zip(gaps, [2000, 7000]) { #expect(abs(gap.number - index) < 300, "\(gap.number)") }
        #expect(decimation.points.first?.isInterrupted == false)
    }

    @Test
    func aWindowMoves() {
        var decimation = Decimation(maximumCount: 60)
        for index in 0..<100_000 {
            let time = Int64(index) * 1000
            let number = index == 0 ? 99 : Self.noise(index).truncatingRemainder(dividingBy: 5)
            decimation.add(Self.scalar(number), at: time)
            decimation.removeAll(before: time - 1_000_000)
        }
        let points = decimation.points
        #expect((15...60).contains(points.count), "\(points.count)")
        #expect(points.allSatisfy { $0.time >= 98_800_000 && $0.numbers.x < 5 })
        decimation.removeAll(before: .max)
        #expect(decimation.isEmpty && decimation.points.isEmpty && decimation.count == 0)
    }

    @Test
    func whatIsPlotted() throws {
        #expect(ElementValue.int64(-7).plottedNumbers?.x == -7)
        #expect(ElementValue.float3([1, 2, 3]).plottedNumbers.map { [$0.x, $0.y, $0.z] } == [1, 2, 3])
        for value in [ElementValue.string("7"), .data(Data([1])), .bool(true), .float4x4(.identity)] {
            #expect(value.plottedNumbers == nil, "\(value)")
        }
        let counts: [(ElementDefinition, Int?)] = [
            (Element<UInt8>(1, "A"), 1), (Element<Vector2>(1, "A"), 2), (Element<Vector4>(1, "A"), 4),
            (Element<UInt8>(1, "A", choices: [0: "off", 1: "on"]), nil), (Element<String>(1, "A"), nil),
            (Element<Matrix4x4>(1, "A"), nil),
        ]
        for (element, count) in counts { #expect(element.plottedCount == count, "\(element.type)") }
    }
}
