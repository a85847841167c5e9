@testable import Zeroconf

/// A TXT record that can be read can be written, if it is not too long, and reads the same then.
enum TXTRecordTarget: FuzzTarget {
    static let name = "txt"

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        let records: [TXTRecord] = [
            [:], ["elemental": "1"], ["elemental": "1", "service": "robot", "instance": "Rover"],
        ]
        return records.compactMap { try? $0.encoded() }
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        let record = TXTRecord(decoding: input)
        if let encoded = try? record.encoded() {
            check(TXTRecord(decoding: encoded).entries == record.entries, "a record that changes")
        }
        for key in record.keys { check(record.contains(key.uppercased()), "'\(key)' cannot be found") }
        check(TXTRecord.reversingStrings(in: Array(input)).count == input.count, "strings get lost")
    }
}
