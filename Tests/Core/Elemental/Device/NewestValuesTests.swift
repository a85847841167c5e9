import ElementalWire
import Foundation
import Support
import Synchronization
import Testing

@testable import Elemental

/// The newest value of each element, written by one thread and read by any.
struct NewestValuesTests {
    private static func newest(within memory: ByteBudget? = nil) -> NewestValues {
        let identity = DeviceState.Identity(name: "tester", elements: ElementTable([]))
        var state = DeviceState(identity: identity)
        state.inbound.memory = memory
        return NewestValues(Locked(state))
    }

    private func set(_ values: NewestValues, _ id: Int8, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { values.set(id, ReceivedBytes($0)) }
    }

    @Test
    func valuesOfEveryLengthAreKept() {
        let values = Self.newest()
        #expect(values.ids.isEmpty)
        for id: Int8 in [0, 7, 8, 63, 127] {
            #expect(values[id] == nil)
            // Up to 16 bytes lie in a slot, up to 256 in a block, longer ones elsewhere; each takes the other's place.
            for count in [8, 0, 1, 16, 17, 15, 24, 255, 256, 23, 257, 200, 40_000, 40_000, 256, 2] {
                let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ count) }
                set(values, id, value)
                #expect(values[id] == value)
            }
        }
        #expect(values.ids == [0, 7, 8, 63, 127])
        #expect(values[-1] == nil)
    }

    /// A long value that lies in what was read keeps it only until that is done with.
    @Test(arguments: [0, 8, 16, 17, 256, 257])
    func aShorterValueReleasesTheLongOneBeforeIt(_ count: Int) {
        let memory = ByteBudget(1_000_000)
        let values = Self.newest(within: memory)
        let releases = Atomic(0)
        let storage = UnsafeMutableRawPointer.allocate(byteCount: 20_000, alignment: 1)
        do {
            let data = Data(
                bytesNoCopy: storage, count: 20_000,
                deallocator: .custom { pointer, _ in
                    pointer.deallocate()
                    releases.add(1, ordering: .relaxed)
                })
            ReceivedBytes.withLong(data) { values.set(3, $0) }
        }
        #expect(releases.load(ordering: .relaxed) == 0)
        set(values, 3, [UInt8](repeating: 1, count: count))
        #expect(releases.load(ordering: .relaxed) == 1)
        #expect(memory.usedByteCount == (count > 256 ? count : 0))
        #expect(values[3] == [UInt8](repeating: 1, count: count))
    }

    @Test(arguments: [[8], [16], [17], [255], [300], [300, 8], [40_000, 20, 300]])
    func aReaderNeverSeesHalfAValue(_ counts: [Int]) async {
        let values = Self.newest()
        set(values, 1, [UInt8](repeating: 0, count: counts[0]))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var seen = 0
                    while seen != 255 {
                        guard let value = values[1], let first = value.first else { return #expect(Bool(false)) }
                        #expect(counts.contains(value.count) && value.allSatisfy { $0 == first })
                        #expect(Int(first) >= seen)
                        seen = Int(first)
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                for number in UInt8(1)...255 {
                    for round in 0..<50 {
                        [UInt8](repeating: number, count: counts[round % counts.count])
                            .withUnsafeBytes { values.set(1, ReceivedBytes($0)) }
                    }
                    await Task.yield()
                }
            }
        }
    }
}
