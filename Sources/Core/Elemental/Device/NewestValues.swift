import ElementalWire
import Support
import Synchronization

/// The newest value received for each element, written by the event loop and read from any thread.
///
/// A value of up to 256 bytes costs the event loop a few plain stores. Up to 16 bytes are in a slot, more in a block of
/// its own. The slot's sequence number is odd while they change (a seqlock), and a reader that observes a change
/// retries. A lock guards longer values.
///
/// Unchecked: the slots are atomics in memory that only grows while the object lives, and that only one thread, the
/// device's event loop, writes.
final class NewestValues: @unchecked Sendable {
    /// The words of a slot: the sequence number, the length, up to 16 bytes, and the address of a block for a longer
    /// value.
    private enum Word {
        static let sequence = 0
        static let length = 1
        static let bytes = 2
        static let block = 4
        static let count = 5
    }

    private typealias Slots = UnsafeMutablePointer<Atomic<UInt64>>

    private static let inlineByteCount = 16
    private static let blockByteCount = 256
    private static let blockWordCount = blockByteCount / 8
    private static let slotsPerGroup = 8
    private static let groupCount = 16
    /// Stored as the length: there is no value, or it is among the long ones.
    private static let none = UInt64.max
    private static let long = UInt64.max - 1

    /// Groups of eight slots, allocated when an element of the group receives its first value.
    private let groups: UnsafeMutablePointer<Atomic<UInt>>
    private let state: Locked<DeviceState>
    init(_ state: Locked<DeviceState>) {
        self.state = state
        groups = .allocate(capacity: Self.groupCount)
        for group in 0..<Self.groupCount { (groups + group).initialize(to: Atomic(0)) }
    }

    deinit {
        state.withLock { state in _ = state.inbound.memory?.note(-state.inbound.longByteCount, own: 0) }
        for group in 0..<Self.groupCount {
            guard let slots = slots(group) else { continue }
            for slot in 0..<Self.slotsPerGroup {
                guard let block = Self.block(of: slots + slot * Word.count) else { continue }
                block.deinitialize(count: Self.blockWordCount)
                block.deallocate()
            }
            slots.deinitialize(count: Self.slotsPerGroup * Word.count)
            slots.deallocate()
        }
        groups.deinitialize(count: Self.groupCount)
        groups.deallocate()
    }

    @inline(__always)
    private func slots(_ group: Int) -> Slots? {
        Slots(bitPattern: groups[group].load(ordering: .acquiring))
    }

    /// Must be called on the event loop.
    @inline(__always)
    func set(_ id: Int8, _ value: ReceivedBytes) {
        let group = Int(id) / Self.slotsPerGroup
        let slots = slots(group) ?? makeSlots(group)
        let slot = slots + Int(id) % Self.slotsPerGroup * Word.count
        let bytes = value.bytes
        let wasLong = slot[Word.length].load(ordering: .relaxed) == Self.long
        defer { if wasLong, bytes.count <= Self.blockByteCount { discardLong(id) } }
        guard bytes.count <= Self.inlineByteCount else {
            return bytes.count <= Self.blockByteCount ? setBlock(bytes, slot) : setLong(id, value, slot)
        }
        var words: (UInt64, UInt64) = (0, 0)
        if bytes.count == 8 {
            words.0 = bytes.loadUnaligned(as: UInt64.self)
        } else {
            withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
        }
        store(slot, length: UInt64(bytes.count), words)
    }

    /// Each store becomes visible before the next, so that a reader that sees a new word also sees that the sequence
    /// number is odd or has advanced.
    @inline(__always)
    private func store(_ slot: Slots, length: UInt64, _ words: (UInt64, UInt64)) {
        let sequence = slot[Word.sequence].load(ordering: .relaxed)
        slot[Word.sequence].store(sequence &+ 1, ordering: .relaxed)
        slot[Word.length].store(length, ordering: .releasing)
        slot[Word.bytes].store(words.0, ordering: .releasing)
        slot[Word.bytes + 1].store(words.1, ordering: .releasing)
        slot[Word.sequence].store(sequence &+ 2, ordering: .releasing)
    }

    @inline(never)
    private func setBlock(_ bytes: UnsafeRawBufferPointer, _ slot: Slots) {
        let block = Self.block(of: slot) ?? Self.makeBlock(for: slot)
        let sequence = slot[Word.sequence].load(ordering: .relaxed)
        slot[Word.sequence].store(sequence &+ 1, ordering: .relaxed)
        // The stores between this fence and the last store of the number may be reordered among themselves.
        atomicMemoryFence(ordering: .releasing)
        slot[Word.length].store(UInt64(bytes.count), ordering: .relaxed)
        let wholeCount = bytes.count / 8
        for word in 0..<wholeCount {
            block[word].store(bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self), ordering: .relaxed)
        }
        if wholeCount * 8 < bytes.count {
            var last: UInt64 = 0
            withUnsafeMutableBytes(of: &last) {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[(wholeCount * 8)...]))
            }
            block[wholeCount].store(last, ordering: .relaxed)
        }
        slot[Word.sequence].store(sequence &+ 2, ordering: .releasing)
    }

    @inline(__always)
    private static func block(of slot: Slots) -> Slots? {
        Slots(bitPattern: UInt(slot[Word.block].load(ordering: .acquiring)))
    }

    @inline(never)
    private static func makeBlock(for slot: Slots) -> Slots {
        let block = Slots.allocate(capacity: blockWordCount)
        for word in 0..<blockWordCount { (block + word).initialize(to: Atomic(0)) }
        slot[Word.block].store(UInt64(UInt(bitPattern: block)), ordering: .releasing)
        return block
    }

    @inline(never)
    private func setLong(_ id: Int8, _ value: ReceivedBytes, _ slot: Slots) {
        let position = Int(id)
        let isKept = state.withLock { state in
            guard state.inbound.mayKeep(value.bytes.count, at: position) else {
                if position < state.inbound.longValues.count { state.inbound.longValues[position] = nil }
                return false
            }
            while state.inbound.longValues.count <= position { state.inbound.longValues.append(nil) }
            if value.isLong {
                state.inbound.longValues[position] = value.long
            } else if state.inbound.longValues[position]?.count == value.bytes.count {
                // Reuse the previous value's storage: no allocation in the steady state.
                state.inbound.longValues[position]?.withUnsafeMutableBytes { $0.copyMemory(from: value.bytes) }
            } else {
                state.inbound.longValues[position] = Data(value.bytes)
            }
            return true
        }
        guard isKept else { return store(slot, length: Self.none, (0, 0)) }
        store(slot, length: Self.long, (0, 0))
    }

    /// Releases a long value that a shorter one has replaced. Readers that still look for it retry.
    @inline(never)
    private func discardLong(_ id: Int8) {
        // The value is released outside the lock.
        let value = state.withLock { state in
            // Returns its bytes to the shared budget.
            _ = state.inbound.mayKeep(0, at: Int(id))
            return state.inbound.longValues[Int(id)].take()
        }
        withExtendedLifetime(value) {}
    }

    @inline(never)
    private func makeSlots(_ group: Int) -> Slots {
        let slots = Slots.allocate(capacity: Self.slotsPerGroup * Word.count)
        for word in 0..<Self.slotsPerGroup * Word.count {
            (slots + word).initialize(to: Atomic(word % Word.count == Word.length ? Self.none : 0))
        }
        groups[group].store(UInt(bitPattern: slots), ordering: .releasing)
        return slots
    }

    subscript(id: Int8) -> [UInt8]? {
        guard id >= 0, let slots = slots(Int(id) / Self.slotsPerGroup) else { return nil }
        let slot = slots + Int(id) % Self.slotsPerGroup * Word.count
        var looks = 0
        while true {
            looks += 1
            // The writer may be preempted; yield to it.
            if looks.isMultiple(of: 200) { BriefSleep.sleep() }
            let sequence = slot[Word.sequence].load(ordering: .acquiring)
            let length = slot[Word.length].load(ordering: .acquiring)
            let words = (slot[Word.bytes].load(ordering: .acquiring), slot[Word.bytes + 1].load(ordering: .acquiring))
            let block = Self.copy(slot, length)
            atomicMemoryFence(ordering: .acquiring)
            guard sequence.isMultiple(of: 2), sequence == slot[Word.sequence].load(ordering: .relaxed) else { continue }
            switch length {
            case Self.none: return nil
            case Self.long:
                if let long = state.withLock({ $0.inbound.longValues[Int(id)] }) { return Array(long) }
            default: return block ?? withUnsafeBytes(of: words) { Array($0.prefix(Int(length))) }
            }
        }
    }

    /// Copies the bytes in the slot's block, which may be changing meanwhile; `nil` if a value of this length is not in
    /// a block.
    private static func copy(_ slot: Slots, _ length: UInt64) -> [UInt8]? {
        guard length > inlineByteCount, length <= blockByteCount, let block = block(of: slot) else { return nil }
        let words = (0..<blockWordCount).prefix((Int(length) + 7) / 8).map { block[$0].load(ordering: .relaxed) }
        return words.withUnsafeBytes { Array($0.prefix(Int(length))) }
    }

    var ids: [Int8] { (0...Int8.max).filter { self[$0] != nil } }
}
