import ElementalWire
import SerialLines
import Testing

@testable import SerialGateway

/// What waits for a line, and what may still be refused, has bounds.
struct DeviceQueueTests {
    private static let count = Element<UInt32>(3, "Count").definition
    private static let motion = Element<Int16>(5, "Motion", latest: true).definition

    private func item(_ value: ElementValue, _ element: ElementDefinition) -> SetValue {
        SetValue(element: element, value: value, client: nil)
    }

    @Test
    func itIsFullAtItsBound() {
        var queue = LineQueue<SetValue>(maximumByteCount: DeviceService.maximumQueuedByteCount)
        var count: UInt32 = 0
        while queue.append(item(.uint32(count), Self.count)) { count += 1 }
        #expect(Int(count) == DeviceService.maximumQueuedByteCount / 9)
        #expect(queue.byteCount <= DeviceService.maximumQueuedByteCount)
        #expect(queue.first?.value == .uint32(0))
        queue.popFirst()
        let fits = queue.append(item(.uint32(count), Self.count))
        #expect(fits)
        let all = queue.removeAll()
        #expect(all.map(\.value) == (1...count).map { .uint32($0) })
        #expect(queue.byteCount == 0 && queue.first?.value == nil)
    }

    @Test
    func ofALatestElementTheNewestWaitsInTheFirstOnesPlace() {
        var queue = LineQueue<SetValue>(maximumByteCount: DeviceService.maximumQueuedByteCount)
        var isAllTaken = queue.append(item(.int16(1), Self.motion))
        isAllTaken = queue.append(item(.uint32(7), Self.count)) && isAllTaken
        for number in 2...10_000 as ClosedRange<Int16> {
            isAllTaken = queue.append(item(.int16(number), Self.motion)) && isAllTaken
        }
        #expect(isAllTaken)
        #expect(queue.byteCount == 7 + 9)
        let all = queue.removeAll()
        #expect(all.map(\.value) == [.int16(10_000), .uint32(7)])
        #expect(queue.byteCount == 0)
        _ = queue.append(item(.int16(3), Self.motion))
        #expect(queue.first?.value == .int16(3))
    }

    @Test
    func whatIsInFrontOfAPingIsConfirmedByIt() {
        var values = UnconfirmedValues()
        values.add(item(.uint32(1), Self.count))
        #expect(values.needsPing)
        let ping = values.beginPing()
        #expect(!values.needsPing)
        values.add(item(.uint32(2), Self.count))
        values.add(item(.int16(3), Self.motion))
        let (early, confirmed) = (values.answered(ping + 1), values.answered(ping))
        #expect(early.isEmpty)
        #expect(confirmed.map(\.value) == [.uint32(1)])
        #expect(values.needsPing)
        _ = values.beginPing()
        let (refused, rest) = (values.refused(3), values.removeAll())
        #expect(refused.map(\.value) == [.uint32(2)])
        #expect(rest.map(\.value) == [.int16(3)])
        for number in 0..<5000 { values.add(item(.uint32(UInt32(number)), Self.count)) }
        let all = values.refused(3)
        #expect(all.count == UnconfirmedValues.maximumCount)
    }
}
