import ElementalWire
import Foundation
import TestSupport
import Testing

@testable import ElementalHistory

/// The power fails, and a file has only its beginning: it is read up to there, nothing that was forced onto the disk is lost, and
/// a client that had more is told so.
struct PowerLossTests {
    /// Writes a file in small steps, and opens it with every one of these lengths.
    private func check(_ bed: HistoryBed, count: UInt64, step: UInt64, lengths: (Int) -> [Int]) throws {
        var steps: [(byteCount: Int, values: UInt64)] = [(0, 0)]
        var syncs: [(byteCount: Int, values: UInt64)] = []
        let client = try {
            let run = try HistoryRun(bed)
            for value in 1...count {
                run.append(value)
                guard value.isMultiple(of: step) || value == count else { continue }
                try run.write()
                steps.append((try bed.byteCount, value))
                if try run.synchroniseIfNeeded() { syncs.append((try bed.byteCount, value)) }
            }
            return run.log.end
        }()
        let files = try bed.files()
        let (name, whole) = try #require(files.count == 1 ? files.first : nil)
        for length in lengths(whole.count) {
            let kept = try #require(steps.last { $0.byteCount <= length }).values
            // What is lost was not forced onto the disk: so many values had been sent at most.
            let sent = syncs.first { $0.byteCount > length }?.values ?? count
            let all = try look(bed.open([name: Array(whole[..<length])]), kept, of: sent, client, "\(length) bytes")
            // Values go on, also behind the damage, and the next run has them.
            let next = try HistoryRun(bed).values
            try #require(next == all, "\(length) bytes: \(all), then \(next)")
        }
    }

    /// - Parameters:
    ///   - count: how many values had been sent when the power failed.
    ///   - client: the position of a client that had all values.
    /// - Returns: all that is kept then.
    private func look(
        _ run: HistoryRun, _ kept: UInt64, of count: UInt64, _ client: HistoryPosition, _ comment: Comment
    ) throws -> [UInt64] {
        try #require(run.values == (0..<kept).map { $0 + 1 }, comment)
        run.append(1_000_000)
        // A client that had all misses what nobody can know.
        var start = HistoryStart.position(HistoryPosition(life: client.life, number: count, check: 0))
        let missed = HistoryBed.pull(run.log, behind: &start)
        try #require(missed.map(\.value) == [nil, 1_000_000], comment)
        #expect(try #require(missed.first?.gap).count == nil, comment)
        // A client that had what is still there misses what was lost, and not much more than that is told.
        if kept > 0 {
            start = .position(HistoryPosition(life: client.life, number: kept, check: 0))
            let items = HistoryBed.pull(run.log, behind: &start)
            try #require(items.map(\.value) == [nil, 1_000_000], comment)
            let most = try #require(items.first?.gap?.maximumCount)
            #expect(items.first?.gap?.count == nil && most >= count - kept && most < 16_384, comment)
        }
        try run.write()
        return run.values
    }

    @Test("a small history's file, cut at every byte")
    func everyByte() async throws {
        try await HistoryBed.with { try check($0, count: 40, step: 3) { Array(0...$0) } }
    }

    @Test("a large history's file, cut at random bytes", .long)
    func randomBytes() async throws {
        var random = SeededGenerator(seed: 7)
        try await HistoryBed.with { bed in
            try check(bed, count: 700, step: 7) { length in
                (0..<10_000).map { _ in Int.random(in: 0...length, using: &random) }
            }
        }
    }

    @Test("a file in which any byte is another is read up to that, and opens")
    func garbled() async throws {
        try await HistoryBed.with { bed in
            let (name, whole) = try bed.file(of: 1...20)
            for place in whole.indices {
                var bytes = whole
                bytes[place] ^= 0x41
                let values = try bed.open([name: bytes]).values
                try #require(values == (1...20).prefix(values.count).map { UInt64($0) }, "byte \(place)")
            }
        }
    }
}
