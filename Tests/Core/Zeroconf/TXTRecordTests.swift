import TestSupport
import Testing

@testable import Zeroconf

@Suite struct TXTRecordTests {
    @Test func keepsOrderAndFoldsCase() throws {
        var record: TXTRecord = ["Model": "R2", "port": "1", "model": "C3"]
        #expect(record.keys == ["model", "port"])
        #expect(record["MODEL"] == "C3")
        // A Kelvin sign is no K: only ASCII letters have a case.
        record["k"] = "1"
        #expect(record["K"] == "1" && record["\u{212A}"] == nil)
        #expect(TXTRecord([("k", "1")]) != ["\u{212A}": "1"])
        record["K"] = nil
        record["zone"] = "kitchen"
        record["PORT"] = nil
        #expect(record.keys == ["model", "zone"])
        #expect(record.contains("Zone") && !record.contains("port"))
    }

    @Test func encodesAsTheRFCSays() throws {
        var record: TXTRecord = ["a": "1", "empty": ""]
        record.set(nil, for: "alone")
        #expect(try record.encoded() == Array("\u{3}a=1\u{6}empty=\u{5}alone".utf8))
        #expect(try TXTRecord().encoded() == [0])
        #expect(TXTRecord(decoding: [0]) == TXTRecord())
        #expect(TXTRecord(decoding: try record.encoded()) == record)
    }

    @Test func decodingSkipsInvalidEntries() {
        let wire = Array("\u{0}\u{2}=x\u{3}a=1\u{3}A=2\u{4}b\u{1}=3\u{5}=====\u{3}c==\u{9}cut".utf8)
        let record = TXTRecord(decoding: wire)
        #expect(record.entries.map(\.key) == ["a", "c"])
        #expect(record["a"] == "1")
        #expect(record["c"] == "=")
    }

    @Test func aValueNeedNotBeText() throws {
        let wire: [UInt8] = [4, 0x6B, 0x3D, 0xFF, 0x00]
        let record = TXTRecord(decoding: wire)
        #expect(record["k"] == nil)
        #expect(record.bytes(for: "k") == [0xFF, 0x00])
        #expect(try record.encoded() == wire)
    }

    @Test func limitsAreTold() throws {
        let longest: TXTRecord = ["k": String(repeating: "x", count: 253)]
        #expect(try longest.encoded().count == 256)
        let tooLong: TXTRecord = ["k": String(repeating: "x", count: 254)]
        #expect(message(of: tooLong)?.contains("256 bytes") == true)
        #expect(message(of: ["": "x"]) != nil)
        #expect(message(of: ["a=b": "x"]) != nil)
        #expect(message(of: ["ä": "x"]) != nil)
        var huge = TXTRecord()
        for number in 0..<40 { huge["key\(number)"] = String(repeating: "x", count: 240) }
        #expect(message(of: huge)?.contains("1300") == true)
    }

    @Test func entriesCanBeReordered() {
        let wire = Array("\u{3}a=1\u{1}b\u{0}\u{9}cut".utf8)
        #expect(TXTRecord.reversingStrings(in: wire) == Array("\u{9}cut\u{0}\u{1}b\u{3}a=1".utf8))
        #expect(TXTRecord.reversingStrings(in: []).isEmpty)
    }

    @Test func hostileBytesNeverCrashAndWhatIsReadCanBeWritten() throws {
        var generator = SeededGenerator(seed: 21)
        for _ in 0..<(Depth.isAll ? 20_000 : 4000) {
            let count = Int.random(in: 0...300, using: &generator)
            // Small numbers make likely lengths, and equals signs split.
            let likely: [UInt8] = [0, 1, 2, 3, 4, 5, UInt8(ascii: "="), UInt8(ascii: "a")]
            let bytes = (0..<count).map { _ in
                Bool.random(using: &generator)
                    ? UInt8.random(in: 0...255, using: &generator)
                    : likely.randomElement(using: &generator) ?? 0
            }
            let record = TXTRecord(decoding: bytes)
            let encoded = try record.encoded()
            _ = TXTRecord.reversingStrings(in: bytes)
            #expect(TXTRecord(decoding: encoded) == record, "\(bytes)")
        }
    }

    private func message(of record: TXTRecord) -> String? {
        do {
            _ = try record.encoded()
            return nil
        } catch {
            #expect(error.code == .invalidTXTRecord)
            return error.message
        }
    }
}
