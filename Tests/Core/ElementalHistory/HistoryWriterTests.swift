import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalHistory
@testable import ElementalSecurity

/// What a service's histories write, and when.
struct HistoryWriterTests {
    private static let count = HistoryBed.element
    private static let text = Element<String>(2, "Text", access: .read).withHistory(HistoryLimits())

    private func open(_ folder: String, interval: Duration = .seconds(3600)) async throws -> ServiceHistories {
        try await ServiceHistories(
            .still, inFilesOf: "weather",
            for: [Self.count, Self.text],
            directory: folder, interval: interval,
            retryInterval: .milliseconds(50))
    }

    private func append(_ value: UInt64, to histories: ServiceHistories) {
        withUnsafeBytes(of: value.littleEndian) {
            histories.append(Self.count.id, $0, at: nil)
        }
    }

    private func answer(_ histories: ServiceHistories, _ start: HistoryStart) throws -> HistoryAnswer {
        let request = HistoryRequest(token: 1, element: 1, from: start, waits: false)
        let bytes = try #require(histories.answer(request, Self.count, for: ObjectIdentifier(histories)) {})
        return try #require(bytes.withUnsafeBytes { HistoryAnswer(wireBytes: $0) })
    }

    private func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder + "/history/weather")
            .filter { !["lock", "bounded"].contains($0) }
    }

    /// The number behind the last value in an element's newest file.
    private func writtenEnd(of element: Int, _ folder: String) throws -> UInt64? {
        guard let name = try files(folder).filter({ $0.hasPrefix("\(element)-") }).max() else { return nil }
        let path = folder + "/history/weather/" + name
        let blocks = HistoryBlock.read(Array(try Data(contentsOf: URL(fileURLWithPath: path)))).blocks
        return blocks.reduce(nil) { if case .values(let records) = $1 { records.end } else { $0 } }
    }

    /// The highest number that a file reserves.
    private func writtenMark(_ file: String) throws -> UInt64? {
        HistoryBlock.read(Array(try Data(contentsOf: URL(fileURLWithPath: file)))).blocks
            .reduce(nil) { if case .mark(let number, _) = $1 { number } else { $0 } }
    }

    /// An element's file that cannot be written: a symbolic link in its place is not followed. There is a file at any moment, so
    /// that the writer does not create one.
    private struct Blocked {
        let file: String
        let kept: String

        init(_ element: Int, _ folder: String) throws {
            let path = folder + "/history/weather"
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            file = path + "/" + (try #require(names.first { $0.hasPrefix("\(element)-") }))
            kept = folder + "/kept"
            try FileManager.default.linkItem(atPath: file, toPath: kept)
            try FileManager.default.createSymbolicLink(atPath: kept + ".link", withDestinationPath: kept)
            try #require(rename(kept + ".link", file) == 0)
        }

        func end() throws { try #require(rename(kept, file) == 0) }
    }

    @Test("values are written soon without being asked for, and the next program has them")
    func writes() async throws {
        try await withFolder { folder in
            do {
                let histories = try await open(folder)
                // Each element has its file before anybody is told of a value.
                #expect(try files(folder).count == 2)
                for value in 1...100 as ClosedRange<UInt64> { append(value, to: histories) }
                try await eventually("the values are written") { try writtenEnd(of: 1, folder) == 101 }
            }
            // The one before has gone: its lock is free.
            let histories = try await open(folder)
            let answer = try answer(histories, .newest(1))
            #expect(answer.first == 100 && answer.next > 101)
        }
    }

    @Test("what cannot be written is told once, stays in memory, and is written when that works again")
    func failure() async throws {
        try await withFolder { folder in
            do {
                let histories = try await open(folder)
                let failures = Transcript<SecurityError?>()
                histories.onFailure { failures.add($0) }
                let blocked = try Blocked(1, folder)
                append(1, to: histories)
                #expect(try await failures.next("a failure") { _ in true }?.code == .insecure)
                append(2, to: histories)
                #expect(try answer(histories, .newest(.max)).next == 3)
                // Another element is written all the same.
                [7].withUnsafeBytes { histories.append(Self.text.id, $0, at: nil) }
                try await eventually("the other is written") { try writtenEnd(of: 2, folder) == 2 }
                try blocked.end()
                let isOver = try await failures.next("its end") { _ in true }
                #expect(isOver == nil)
                #expect(await histories.synchronise() == nil)
            }
            let histories = try await open(folder)
            #expect(try answer(histories, .newest(.max)).next == 3)
            var count = 0
            try answer(histories, .newest(.max)).forEach { _, _ in count += 1 }
            #expect(count == 2)
        }
    }

    @Test("behind a crash while nothing could be written the gap has no bound, and no value comes again")
    func crash() async throws {
        try await withFolder { folder in
            let clients: [HistoryPosition]
            let blocked: Blocked
            do {
                let histories = try await open(folder)
                for value in 1...10 as ClosedRange<UInt64> { append(value, to: histories) }
                #expect(await histories.synchronise() == nil)
                let before = try answer(histories, .newest(1))
                blocked = try Blocked(1, folder)
                let failures = Transcript<SecurityError?>()
                histories.onFailure { failures.add($0) }
                // More than the files have reserved.
                for value in 11...3000 as ClosedRange<UInt64> { append(value, to: histories) }
                #expect(try await failures.next("a failure") { _ in true }?.code == .insecure)
                clients = [10, 2000, 3000].map { HistoryPosition(life: before.life, number: $0, check: 0) }
            }
            try blocked.end()
            // Twice: the second program knows it from the files.
            for value in [3001, 3002] as [UInt64] {
                let histories = try await open(folder)
                append(value, to: histories)
                for client in clients {
                    let answer = try answer(histories, .position(client))
                    #expect(answer.gap == HistoryGap(count: nil, maximumCount: nil))
                    var values: [UInt64] = []
                    answer.forEach { values.append(UInt64(littleEndian: $1.loadUnaligned(as: UInt64.self))) }
                    #expect(values.first == 3001)
                }
                #expect(await histories.synchronise() == nil)
            }
        }
    }

    @Test("a life that could not be begun is begun when that works again, without a value")
    func lateBeginning() async throws {
        try await withFolder { folder in
            let histories = try await open(folder)
            #expect(await histories.synchronise() == nil)
            let blocked = try Blocked(2, folder)
            #expect(try writtenMark(blocked.kept) == 0)
            let failures = Transcript<SecurityError?>()
            histories.onFailure { failures.add($0) }
            await histories.begin()
            #expect(try await failures.next("a failure") { _ in true }?.code == .insecure)
            try blocked.end()
            let isOver = try await failures.next("its end") { _ in true }
            #expect(isOver == nil)
            #expect(try writtenMark(blocked.file) ?? 0 > 0)
        }
    }

    @Test("an element that comes back goes on with its numbers, and one that does not is kept")
    func otherElements() async throws {
        try await withFolder { folder in
            let other = Element<UInt64>(1, "Other", access: .read).withHistory(HistoryLimits())
            do {
                let histories = try await open(folder)
                append(1, to: histories)
                histories.keepOnly([other])
                [2].withUnsafeBytes { histories.append(other.id, $0, at: nil) }
                histories.keepOnly([Self.count])
                append(3, to: histories)
                #expect(await histories.synchronise() == nil)
            }
            let histories = try await open(folder)
            let answer = try answer(histories, .newest(.max))
            var values: [UInt64] = []
            answer.forEach { values.append(UInt64(littleEndian: $1.loadUnaligned(as: UInt64.self))) }
            #expect(values == [1, 3] && answer.next == 3)
            #expect(try files(folder).filter { $0.hasPrefix("1-") }.count == 2)
        }
    }

    @Test("elements that change all the time fill neither disk nor memory, and take nothing from others")
    func changingElements() async throws {
        try await withFolder { folder in
            do {
                let histories = try await open(folder)
                append(1, to: histories)
                let value = [UInt8](repeating: 65, count: HistoryLimits.maximumValueByteCount)
                for number in 0..<3000 {
                    let other = Element<Data>(1, "Other \(number)", access: .read).withHistory(HistoryLimits())
                    histories.keepOnly([other])
                    value.withUnsafeBytes { histories.append(other.id, $0, at: nil) }
                    #expect(histories.byteCount <= ServiceHistories.maximumByteCount)
                    if number.isMultiple(of: 500) { _ = await histories.synchronise() }
                }
                _ = await histories.synchronise()
                histories.keepOnly([Self.count])
                for value in 2...3 as ClosedRange<UInt64> { append(value, to: histories) }
                _ = await histories.synchronise()
            }
            let path = folder + "/history/weather/"
            let sizes = try files(folder).map {
                try #require(try FileManager.default.attributesOfItem(atPath: path + $0)[.size] as? Int)
            }
            // Besides the values each file says whose they are.
            #expect(sizes.count <= 512 + 1 && sizes.reduce(0, +) <= ServiceHistories.maximumByteCount + 512 * 1024)
            let histories = try await open(folder)
            var values: [UInt64] = []
            try answer(histories, .newest(.max)).forEach {
                values.append(UInt64(littleEndian: $1.loadUnaligned(as: UInt64.self)))
            }
            // The first one was dropped for the others.
            #expect(values.suffix(2) == [2, 3])
        }
    }

    @Test(
        "names that are no folder's are refused",
        arguments: ["", "..", "a/b", "a b", "ä", String(repeating: "a", count: 64)])
    func names(_ name: String) async throws {
        _ = try await withFolder { folder in
            await #expect(throws: SecurityError.self) {
                try await ServiceHistories(
                    .still, inFilesOf: name, for: [Self.count], directory: folder, interval: .seconds(1))
            }
        }
    }
}
