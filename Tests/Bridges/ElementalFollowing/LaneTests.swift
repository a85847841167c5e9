import Elemental
import Foundation
import Testing

@testable import ElementalFollowing

/// When values may be forwarded, without clocks, and which are only echoes.
struct LaneTests {
    private static let speed = Element<Float>(1, "Speed").definition
    private static let level = Element<UInt32>(2, "Level", latest: true).definition
    private let start = ContinuousClock.now

    @Test
    func valuesAreForwardedInOrderAndOnlyTheNewestOfLatestOnes() {
        var lanes = Lanes(interval: .zero, keeping: .all(limit: 10, byteLimit: 1000))
        #expect(lanes.next(at: start) == .idle)
        #expect(lanes.add(.float(1), of: Self.speed) == true)
        #expect(lanes.add(.uint32(1), of: Self.level) == true)
        #expect(lanes.add(.float(2), of: Self.speed) == true)
        #expect(lanes.add(.uint32(2), of: Self.level) == true)
        let holds = lanes.holds(Self.level)
        #expect(holds)
        #expect(lanes.next(at: start) == .send(Self.speed, .float(1)))
        #expect(lanes.next(at: start) == .send(Self.level, .uint32(2)))
        let holdsNoMore = lanes.holds(Self.level)
        #expect(!holdsNoMore)
        #expect(lanes.next(at: start) == .send(Self.speed, .float(2)))
        #expect(lanes.next(at: start) == .idle)
    }

    @Test
    func eachElementHasItsOwnPace() {
        var lanes = Lanes(interval: .seconds(1), keeping: .all(limit: 10, byteLimit: 1000))
        for number in 0..<3 {
            #expect(lanes.add(.float(Float(number)), of: Self.speed) == true)
            #expect(lanes.add(.uint32(UInt32(number)), of: Self.level) == true)
        }
        // The first is forwarded at once.
        #expect(lanes.next(at: start) == .send(Self.speed, .float(0)))
        #expect(lanes.next(at: start + .milliseconds(500)) == .send(Self.level, .uint32(2)))
        #expect(lanes.next(at: start + .milliseconds(600)) == .wait(until: start + .seconds(1)))
        #expect(lanes.next(at: start + .seconds(1)) == .send(Self.speed, .float(1)))
        #expect(lanes.next(at: start + .milliseconds(1100)) == .wait(until: start + .seconds(2)))
        #expect(lanes.add(.uint32(9), of: Self.level) == true)
        #expect(lanes.next(at: start + .milliseconds(1200)) == .wait(until: start + .milliseconds(1500)))
        #expect(lanes.next(at: start + .milliseconds(1500)) == .send(Self.level, .uint32(9)))
        #expect(lanes.next(at: start + .seconds(60)) == .send(Self.speed, .float(2)))
        #expect(lanes.next(at: start + .seconds(60)) == .idle)
    }

    @Test
    func aFullLaneDropsValuesButALatestLaneIsNeverFull() {
        var lanes = Lanes(interval: .zero, keeping: .all(limit: 2, byteLimit: 1000))
        #expect(lanes.add(.float(0), of: Self.speed) == true)
        #expect(lanes.add(.float(1), of: Self.speed) == true)
        let isTaken = lanes.add(.float(2), of: Self.speed)
        #expect(!isTaken)
        for number: UInt32 in 0..<10 { #expect(lanes.add(.uint32(number), of: Self.level) == true) }
        #expect(lanes.next(at: start) == .send(Self.speed, .float(0)))
        #expect(lanes.add(.float(3), of: Self.speed) == true)
        #expect(lanes.next(at: start) == .send(Self.speed, .float(1)))
        #expect(lanes.next(at: start) == .send(Self.level, .uint32(9)))
        #expect(lanes.next(at: start) == .send(Self.speed, .float(3)))
    }

    @Test
    func bytesAreTheBoundOfAllLanesTogether() {
        let text = Element<String>(3, "Text").definition
        func value(_ byteCount: Int) -> ElementValue { .string(String(repeating: "x", count: byteCount)) }
        var lanes = Lanes(interval: .zero, keeping: .all(limit: 10, byteLimit: 1000))
        // A longer one goes alone.
        let taken = [2000, 1].map { lanes.add(value($0), of: text) }
        #expect(taken == [true, false])
        #expect(lanes.next(at: start) == .send(text, value(2000)))
        let others = [lanes.add(value(999), of: text), lanes.add(.float(1), of: Self.speed)]
        #expect(others == [true, false])
        // Only the newest of these is kept.
        for number: UInt32 in 0..<10 { #expect(lanes.add(.uint32(number), of: Self.level) == true) }
        lanes.drop(text)
        #expect(lanes.add(value(1000), of: text) == true)
        _ = lanes.next(at: start)
        #expect(lanes.next(at: start) == .send(text, value(1000)))
        lanes.putBack(value(1000), of: text)
        #expect(lanes.add(value(1), of: text) == false)
    }

    @Test
    func whatIsPutBackGoesFirstAtOnce() {
        var lanes = Lanes(interval: .seconds(1), keeping: .all(limit: 10, byteLimit: 1000))
        #expect(lanes.add(.float(0), of: Self.speed) == true)
        #expect(lanes.add(.float(1), of: Self.speed) == true)
        #expect(lanes.next(at: start) == .send(Self.speed, .float(0)))
        lanes.putBack(.float(0), of: Self.speed)
        #expect(lanes.next(at: start) == .send(Self.speed, .float(0)))
        // Of an element marked latest only if there is no newer one.
        #expect(lanes.add(.uint32(1), of: Self.level) == true)
        #expect(lanes.next(at: start) == .send(Self.level, .uint32(1)))
        lanes.putBack(.uint32(1), of: Self.level)
        #expect(lanes.next(at: start) == .send(Self.level, .uint32(1)))
        #expect(lanes.add(.uint32(2), of: Self.level) == true)
        lanes.putBack(.uint32(1), of: Self.level)
        #expect(lanes.next(at: start) == .send(Self.level, .uint32(2)))
        #expect(lanes.next(at: start) == .wait(until: start + .seconds(1)))
    }

    @Test
    func whereTheNewestIsKeptNoLaneIsEverFull() {
        var lanes = Lanes(interval: .seconds(1), keeping: .newest)
        for number in 0..<1000 { #expect(lanes.add(.float(Float(number)), of: Self.speed) == true) }
        #expect(lanes.next(at: start) == .send(Self.speed, .float(999)))
        #expect(lanes.next(at: start) == .idle)
        #expect(lanes.add(.float(1), of: Self.speed) == true)
        #expect(lanes.next(at: start) == .wait(until: start + .seconds(1)))
        lanes.open(Self.speed)
        #expect(lanes.next(at: start) == .send(Self.speed, .float(1)))
    }

    @Test
    func anotherElementWithTheIdentifierTakesTheLaneOver() {
        let other = Element<Bool>(1, "Light").definition
        var lanes = Lanes(interval: .zero, keeping: .all(limit: 10, byteLimit: 1000))
        #expect(lanes.add(.float(1), of: Self.speed) == true)
        #expect(lanes.next(at: start) == .send(Self.speed, .float(1)))
        #expect(lanes.add(.bool(true), of: other) == true)
        #expect(lanes.next(at: start) == .send(other, .bool(true)))
    }

    @Test("newest values have four times the bytes of others; short ones always have room")
    func newestValuesAreBoundedInBytes() {
        func value(_ byteCount: Int) -> ElementValue { .string(String(repeating: "x", count: byteCount)) }
        let texts = (3..<6).map { Element<String>($0, "Text \($0)", latest: true).definition }
        var lanes = Lanes(interval: .zero, keeping: .all(limit: 10, byteLimit: 1000))
        let taken = [2000, 2000, 500].enumerated().map { lanes.add(value($1), of: texts[$0]) }
        #expect(taken == [true, true, false])
        #expect(lanes.add(value(250), of: texts[2]) == true)
        #expect(lanes.add(.float(1), of: Self.speed) == true)
        // In place of the one that waits.
        let replaced = [2001, 1500, 500].map { lanes.add(value($0), of: texts[1]) }
        #expect(replaced == [true, true, true])
        #expect(lanes.add(value(1500), of: texts[2]) == true)
        #expect(lanes.next(at: start) == .send(texts[0], value(2000)))
        #expect(lanes.add(value(3500), of: texts[0]) == false)
        lanes.drop(texts[1])
        #expect(lanes.add(value(2500), of: texts[0]) == true)
    }

    // MARK: - Values that only come back

    @Test
    func onlyTheNewestValueOfALatestElementIsAnEcho() {
        let echoes = EchoFilter()
        #expect(echoes.newest(of: Self.level, own: nil) == nil)
        #expect(echoes.isNews(.uint32(1), of: Self.level))
        #expect(!echoes.isNews(.uint32(1), of: Self.level))
        #expect(echoes.newest(of: Self.level, own: nil) == .uint32(1))
        #expect(echoes.isNews(.uint32(2), of: Self.level))
        #expect(echoes.isNews(.uint32(1), of: Self.level))
        // Each value of another element counts.
        #expect(echoes.isNews(.float(1), of: Self.speed))
        #expect(echoes.isNews(.float(1), of: Self.speed))
        #expect(echoes.newest(of: Self.speed, own: nil) == nil)
    }

    @Test
    func whatWasNotAcceptedIsNoEcho() {
        let echoes = EchoFilter()
        #expect(echoes.isNews(.uint32(1), of: Self.level))
        echoes.forget(Self.level)
        #expect(echoes.newest(of: Self.level, own: nil) == nil)
        #expect(echoes.isNews(.uint32(1), of: Self.level))
    }

    @Test("a long value is recognized without being kept")
    func longEchoes() {
        let picture = Element<Data>(3, "Picture", latest: true).definition
        let echoes = EchoFilter()
        let (value, other) = (Data(repeating: 1, count: 5000), Data(repeating: 1, count: 4999) + [2])
        #expect(echoes.isNews(.data(value), of: picture))
        #expect(!echoes.isNews(.data(value), of: picture))
        #expect(echoes.newest(of: picture, own: .data(value)) == .data(value))
        #expect(echoes.newest(of: picture, own: .data(other)) == nil)
        #expect(echoes.isNews(.data(other), of: picture))
    }
}
