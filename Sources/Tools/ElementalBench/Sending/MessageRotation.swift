import Elemental

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// The messages that a sender uses in turn.
///
/// A long message is sent without a copy, so the next one needs other storage: there are as many in rotation as may wait
/// in the queue, and some more. A short one is copied when it is sent, so there is one, whose number is written in place:
/// changing a `Data` takes longer than sending it.
struct MessageRotation<Value: NumberedValue> {
    /// The minimum length of a message that is sent without a copy.
    private static var longByteCount: Int { 16 * 1024 }

    private var messages: [Value]
    private var short: Value
    /// The bytes of the short message; `nil` if its number is set as in any other value.
    private let memory: UnsafeMutableRawPointer?

    /// - Parameters:
    ///   - byteCount: the bytes of each message's value.
    ///   - queueByteCount: how many bytes may wait in the queue.
    init(_ number: MessageNumber, byteCount: Int, queueByteCount: Int) {
        let isLong = byteCount >= Self.longByteCount
        messages = []
        short = Value(number, byteCount: isLong ? MessageNumber.byteCount : byteCount)
        if isLong {
            messages = (0..<4 + queueByteCount / byteCount).map { _ in Value(number, byteCount: byteCount) }
            memory = nil
        } else if Value.self == Data.self {
            let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 8)
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
            let data = Data(
                bytesNoCopy: memory, count: byteCount, deallocator: .custom { memory, _ in memory.deallocate() })
            self.memory = memory
            if let value = data as? Value { short = value }
        } else {
            memory = nil
        }
    }

    /// The message with this number, to be sent before the next one is made.
    @inline(__always)
    mutating func message(_ number: MessageNumber) -> Value {
        if let memory {
            memory.storeBytes(of: number.rawValue.littleEndian, as: UInt64.self)
            return short
        }
        if messages.isEmpty {
            short.number = number
            return short
        }
        let turn = Int(number.sequence % UInt64(messages.count))
        messages[turn].number = number
        return messages[turn]
    }
}
