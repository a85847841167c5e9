import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalHistory
@testable import ElementalSecurity

/// Files that follow one another, that fail, that end and go on, and that somebody else has written.
struct HistoryFileEdgeTests {
    @Test(
        "over many files nothing that the limits keep is lost at an end in order, whenever it was forced onto the disk")
    func manyFiles() async throws {
        try await HistoryBed.with { bed in
            var random = SeededGenerator(seed: 5)
            var (last, kept): (UInt64, [UInt64]) = (0, [])
            for round in 1...8 {
                let run = try HistoryRun(bed)
                #expect(run.values.suffix(kept.count) == kept[...], "round \(round)")
                run.log.limits = HistoryLimits(byteCount: 40_000)
                for _ in 0..<1500 {
                    last += 1
                    run.append(last)
                    if random.once(in: 3) { try run.write() }
                    if random.once(in: 50) { try run.synchronise() }
                }
                try run.write()
                kept = run.values
                try run.synchronise(isEnd: true)
            }
            #expect(kept.count > 1600)
            #expect(try bed.files().count > 4)
        }
    }

    @Test("a new file that could not be written begins as it should when that works again")
    func failedFile() async throws {
        try await HistoryBed.with { bed in
            let values = try {
                let run = try HistoryRun(bed)
                run.log.limits = HistoryLimits(byteCount: 40_000)
                try run.write(1...50)
                let name = try #require(try bed.files().keys.max())
                let number = try #require(UInt64(name.suffix(16), radix: 16))
                let next = "\(bed.path)/\(name.dropLast(4))\(String(0x10000 + number + 1, radix: 16).dropFirst())"
                try FileManager.default.createSymbolicLink(atPath: next, withDestinationPath: "/nowhere")
                var failures = 0
                for value in 51...900 as ClosedRange<UInt64> {
                    run.append(value)
                    do { try run.write() } catch { failures += 1 }
                    if value == 700 { try FileManager.default.removeItem(atPath: next) }
                }
                #expect(failures > 0)
                return run.values
            }()
            #expect(values.count == 900)
            #expect(try HistoryRun(bed).values == values)
        }
    }

    @Test("values behind an end in order are known to be missing if they are lost")
    func resumption() async throws {
        try await HistoryBed.with { bed in
            let (before, after) = try {
                let run = try HistoryRun(bed)
                run.append(1...5)
                try run.write()
                try run.synchronise(isEnd: true)
                let before = run.log.end
                try run.begin()
                run.append(6...9)
                return (before, run.log.end)
            }()
            let files = try bed.files()
            for position in [before, after] {
                let run = try bed.open(files)
                var start = HistoryStart.position(position)
                let items = HistoryBed.pull(run.log, behind: &start)
                #expect(items.count == 1)
                #expect(try #require(items.first?.gap?.maximumCount) >= 9 - position.number)
            }
        }
    }

    @Test("a file that is removed or replaced while the service runs is followed by another")
    func replacedFile() async throws {
        try await HistoryBed.with { bed in
            try {
                let run = try HistoryRun(bed)
                run.append(1)
                try run.write()
                try bed.replace([:])
                run.append(2)
                #expect(throws: SecurityError.self) { try run.write() }
                try run.write()
                run.append(3)
                try run.write()
            }()
            #expect(try HistoryRun(bed).values == [2, 3])
        }
    }

    @Test("a file whose checksums are right and whose numbers are not is read, refused or put aside")
    func hostileFiles() async throws {
        try await HistoryBed.with { bed in
            let (name, whole) = try bed.file(of: 1...4)
            var random = SeededGenerator(seed: 3)
            var refused = 0
            for _ in 0..<2000 {
                do {
                    let run = try bed.open([name: Self.garbled(whole, &random)])
                    run.append(5, now: 1)
                    try run.write()
                    _ = run.values
                } catch let error as SecurityError {
                    #expect(error.code == .corrupt)
                    refused += 1
                }
            }
            #expect((1..<2000).contains(refused))
            // The number in a file's name is bounded too.
            #expect(try bed.open([String(name.dropLast(16)) + "ffffffffffffffff": whole]).values.isEmpty)
        }
    }

    /// The file with other bytes and numbers, and with checksums of those.
    private static func garbled(_ whole: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var (bytes, offset) = (whole, 0)
        while offset < bytes.count {
            let length = Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
            let payload = offset + 8..<offset + 8 + length
            if random.once(in: 3) {
                bytes[Int.random(in: payload, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if random.once(in: 3) {
                // The largest number of 8 bytes, or nearly the smallest.
                let place = Int.random(in: payload, using: &random)
                for at in place..<min(place + 8, payload.upperBound) {
                    bytes[at] = at == place + 7 ? [0x7F, 0x80][Int.random(in: 0...1, using: &random)] : 0xFF
                }
            }
            let checksum = CRC32(Array(bytes[payload])).value
            for index in 0..<4 {
                bytes[offset + 4 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index)))
            }
            offset = payload.upperBound
        }
        return bytes
    }
}
