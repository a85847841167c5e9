import struct Foundation.Data

typealias Data = Foundation.Data

extension Data {
    /// Bytes with a period of 251, so that parts at other distances differ. Made in blocks: a loop over millions of bytes
    /// in a debug build would delay all other tests.
    init(pattern factor: Int, from start: Int, count: Int) {
        let block = Data((0..<251 * 16).map { UInt8(truncatingIfNeeded: ($0 * factor + start) % 251) })
        self.init(capacity: count + block.count)
        while self.count < count { append(block) }
        removeLast(self.count - count)
    }
}
