import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Points in time as the MessagePack specification's extension type -1.
enum MessagePackTimestamp {
    static var type: Int8 { -1 }

    static func write(_ date: Date, into buffer: inout ByteBuffer) throws(MessagePackError) {
        let time = date.timeIntervalSince1970
        guard let seconds = Int64(exactly: time.rounded(.down)) else {
            throw MessagePackError(description: "the date \(time) s after 1970 is out of range")
        }
        let nanoseconds = UInt32(min(((time - time.rounded(.down)) * 1e9).rounded(), 999_999_999))
        switch seconds {
        case 0...Int64(UInt32.max) where nanoseconds == 0:
            buffer.writeMultipleIntegers(UInt8(0xD6), type, UInt32(seconds))
        case 0..<1 << 34:
            buffer.writeMultipleIntegers(UInt8(0xD7), type, UInt64(nanoseconds) << 34 | UInt64(seconds))
        default:
            buffer.writeMultipleIntegers(UInt8(0xC7), UInt8(12), type, nanoseconds, seconds)
        }
    }

    static func read(_ body: ByteBuffer) throws(MessagePackError) -> Date {
        var body = body
        let seconds: Int64
        let nanoseconds: UInt32
        switch body.readableBytes {
        case 4:
            seconds = Int64(body.readInteger(as: UInt32.self) ?? 0)
            nanoseconds = 0
        case 8:
            let both = body.readInteger(as: UInt64.self) ?? 0
            seconds = Int64(both & (1 << 34 - 1))
            nanoseconds = UInt32(both >> 34)
        case 12:
            nanoseconds = body.readInteger(as: UInt32.self) ?? 0
            seconds = body.readInteger(as: Int64.self) ?? 0
        default:
            throw MessagePackError(description: "a timestamp of \(body.readableBytes) bytes")
        }
        guard nanoseconds < 1_000_000_000 else {
            throw MessagePackError(description: "a timestamp with \(nanoseconds) ns")
        }
        return Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9)
    }
}
