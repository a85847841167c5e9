import ElementalWire
import Foundation
import Testing

@testable import Elemental

/// What a service has set.
struct CurrentValuesTests {
    private static let one = Element<UInt8>(1, "One")
    private static let two = Element<Data>(2, "Two")

    private func bytes(_ values: CurrentValues, _ id: Int8) -> [UInt8]? {
        values[id]?.withUnsafeBytes { Array($0) }
    }

    @Test
    func theLastValueOfEachElementIsKept() {
        var values = CurrentValues(ElementTable([Self.one, Self.two]))
        #expect(values.ids.isEmpty)
        #expect(values[0] == nil && values[127] == nil)
        ([7] as [UInt8]).withUnsafeBytes { values.set(1, $0) }
        ([9, 8] as [UInt8]).withUnsafeBytes { values.set(127, $0) }
        #expect(values.ids == [1, 127])
        // Of the same length, of another one, and none.
        for value: [UInt8] in [[6], [1, 2, 3], []] {
            value.withUnsafeBytes { values.set(1, $0) }
            #expect(bytes(values, 1) == value)
            #expect(values[1]?.byteCount == value.count)
        }
        #expect(bytes(values, 127) == [9, 8])
    }

    @Test
    func aLongValueIsSharedAndReplacedLikeAnyOther() {
        var values = CurrentValues(ElementTable([Self.one, Self.two]))
        let long = Data(repeating: 3, count: 20_000)
        values.set(2, long: long)
        #expect(values[2]?.byteCount == 20_000)
        guard case .long(let kept) = values[2] else { return #expect(Bool(false)) }
        #expect(kept == long)
        ([1] as [UInt8]).withUnsafeBytes { values.set(2, $0) }
        #expect(bytes(values, 2) == [1])
    }

    @Test
    func otherElementsDropTheValuesOfThoseThatChanged() {
        var values = CurrentValues(ElementTable([Self.one, Self.two]))
        ([7] as [UInt8]).withUnsafeBytes { values.set(1, $0) }
        ([8] as [UInt8]).withUnsafeBytes { values.set(2, $0) }
        values.use(ElementTable([Self.one, Element<String>(2, "Two")]))
        #expect(values.ids == [1])
        #expect(values.table.type(of: 2) == .string)
        values.use(ElementTable([]))
        #expect(values.ids.isEmpty)
    }
}
