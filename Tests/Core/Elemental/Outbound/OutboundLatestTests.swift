import Testing

@testable import Elemental

/// The unsent values of `latest` elements.
struct OutboundLatestTests {
    private func set(_ id: Int8, _ value: [UInt8], in values: inout LatestValues) -> Bool {
        value.withUnsafeBytes { values.set(id, $0) }
    }

    private func drain(
        _ values: inout LatestValues, except held: IdentifierSet = IdentifierSet()
    ) -> [OutboundMessage] {
        var all: [OutboundMessage] = []
        values.removeAll(except: held) { all.append(OutboundMessage($0, Array($1))) }
        return all
    }

    @Test
    func aNewValueTakesThePlaceOfTheUnsentOne() {
        var values = LatestValues(headerByteCount: 5)
        #expect(!set(1, [1], in: &values))
        #expect(!set(2, [2, 2], in: &values))
        #expect(set(1, [3], in: &values))
        #expect(set(2, [4, 4, 4], in: &values))
        #expect(values.count == 2)
        #expect(values.byteCount == 6 + 8)
        #expect(drain(&values) == [OutboundMessage(1, [3]), OutboundMessage(2, [4, 4, 4])])
        #expect(values.isEmpty)
        #expect(values.byteCount == 0)
    }

    @Test
    func theirBytesAreCountedWithTheEnvelopesOfTheirTransport() throws {
        var machine = OutboundFixture.opened()
        try machine.send(OutboundFixture.latest, [1, 2])
        #expect(machine.counts.bytesSent == 7)
        try machine.send(OutboundFixture.latestDatagram, [1, 2])
        #expect(machine.counts.bytesSent == 15)
    }

    @Test
    func emptyValuesAreValues() {
        var values = LatestValues(headerByteCount: 5)
        #expect(!set(1, [], in: &values))
        #expect(set(1, [], in: &values))
        #expect(values.byteCount == 5)
        #expect(drain(&values) == [OutboundMessage(1, [])])
    }

    @Test
    func whatIsHeldBackStays() {
        var values = LatestValues(headerByteCount: 6)
        var held = IdentifierSet()
        held.insert(2)
        _ = set(2, [2], in: &values)
        #expect(!values.hasValue(except: held))
        _ = set(1, [1], in: &values)
        #expect(values.hasValue(except: held))
        #expect(drain(&values, except: held) == [OutboundMessage(1, [1])])
        #expect(values.byteCount == 7)
        #expect(drain(&values) == [OutboundMessage(2, [2])])
    }

    @Test
    func theFirstLongOneCanBeTaken() throws {
        var values = LatestValues(headerByteCount: 5)
        var held = IdentifierSet()
        held.insert(2)
        for id in Int8(1)...3 { _ = set(id, [UInt8](repeating: 0, count: Int(id) * 10), in: &values) }
        let taken = try unwrap(values.removeFirst(longerThan: 15, except: held))
        #expect(taken.id == 3)
        #expect(values.removeFirst(longerThan: 15, except: held) == nil)
        #expect(values.byteCount == 15 + 25)
    }

    @Test
    func identifiersAreKeptApart() {
        var set = IdentifierSet()
        for id in stride(from: Int8(0), through: 127, by: 3) { set.insert(id) }
        for id in Int8(0)...127 { #expect(set.contains(id) == id.isMultiple(of: 3)) }
        for id in stride(from: Int8(0), through: 127, by: 2) { set.remove(id) }
        for id in Int8(0)...127 { #expect(set.contains(id) == (id.isMultiple(of: 3) && !id.isMultiple(of: 2))) }
    }
}
