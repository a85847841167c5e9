import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalHistory
@testable import ElementalSecurity

/// A service's folder with the history of one element, and a client that keeps a position.
struct HistoryBed {
    static let element = Element<UInt64>(1, "Count", access: .read).withHistory(HistoryLimits())

    let path: String
    var clock = HistoryClock.still

    /// Runs `body` with a folder that is not there yet.
    static func with(_ body: (HistoryBed) async throws -> Void) async throws {
        try await withFolder { try await body(HistoryBed(path: $0 + "/history")) }
    }

    /// The file of a run that writes each of these values by itself, and is killed.
    func file(of values: ClosedRange<UInt64>) throws -> (name: String, bytes: [UInt8]) {
        try HistoryRun(self).write(values)
        let files = try self.files()
        return try #require(files.count == 1 ? files.first.map { ($0, $1) } : nil)
    }

    /// A run that finds only these files.
    func open(_ files: [String: [UInt8]]) throws -> HistoryRun {
        try replace(files)
        return try HistoryRun(self)
    }

    /// Everything behind a start: the values, and the gaps between them.
    static func pull(
        _ log: HistoryLog, behind start: inout HistoryStart, anchor: Int64 = 0
    ) -> [(value: UInt64?, gap: HistoryGap?, time: Int64)] {
        var items: [(UInt64?, HistoryGap?, Int64)] = []
        while true {
            let answer = log.answer(1, behind: start, anchor: anchor)
            if let gap = answer.gap { items.append((nil, gap, 0)) }
            var position = HistoryPosition(life: answer.life, number: answer.first - 1, check: answer.check)
            answer.forEach { time, bytes in
                items.append((UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)), nil, time))
                position.number += 1
                position.check = HistoryPosition.check(bytes)
            }
            start = .position(position)
            if answer.values.isEmpty { return items }
        }
    }

    /// All files' contents.
    func files() throws -> [String: [UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter {
            !["lock", "bounded"].contains($0)
        }
        return Dictionary(
            uniqueKeysWithValues: try names.map {
                ($0, Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\($0)"))))
            })
    }

    var byteCount: Int { get throws { try files().values.reduce(0) { $0 + $1.count } } }

    func replace(_ files: [String: [UInt8]]) throws {
        for name in try self.files().keys { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
        for (name, bytes) in files {
            let file = "\(path)/\(name)"
            guard
                FileManager.default.createFile(
                    atPath: file, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
            else { throw TestSupportError("cannot write \(file)") }
        }
    }
}

/// A run of the service's program, which ends with this.
final class HistoryRun {
    private var folder: HistoryFolder
    var log: HistoryLog
    private var next: UInt64 = 0

    private let start: [UInt8]

    /// - Parameter begins: whether it says so in the files, as the program does.
    init(_ bed: HistoryBed, begins: Bool = true) throws {
        folder = try HistoryFolder(bed.path, bed.clock)
        log = try folder.read()[HistoryBed.element.historyKey] ?? HistoryLog(HistoryLimits())
        start = bed.clock.start
        if begins {
            try folder.begin(log.beginning(HistoryBed.element.historyKey, start: start))
            try folder.synchronise()
            folder.note(isBounded: true)
        }
    }

    /// Adds a value that says its number.
    func append(_ value: UInt64, at time: Int64 = 0, now: Int64 = 0) {
        withUnsafeBytes(of: value.littleEndian) { log.append($0, at: time, now: now) }
    }

    func append(_ values: ClosedRange<UInt64>) { for value in values { append(value) } }

    /// Writes what the files lack.
    func write() throws {
        while let values = log.unwritten(from: next, HistoryBed.element.historyKey, start: start) {
            try folder.write(values)
            next = values.records.end
        }
    }

    /// Adds values and writes each by itself.
    func write(_ values: ClosedRange<UInt64>) throws {
        for value in values {
            append(value)
            try write()
        }
    }

    /// Forces it onto the disk where that must not wait.
    ///
    /// - Returns: whether it did.
    func synchroniseIfNeeded() throws -> Bool {
        guard folder.mustSynchronise else { return false }
        try folder.synchronise()
        return true
    }

    /// Goes on behind an end.
    func begin() throws {
        try folder.begin(log.beginning(HistoryBed.element.historyKey, start: start))
        try folder.synchronise()
    }

    func synchronise(isEnd: Bool = false) throws { try folder.synchronise(isEnd: isEnd) }

    /// Everything that is kept.
    var values: [UInt64] {
        var start = HistoryStart.newest(.max)
        return HistoryBed.pull(log, behind: &start).compactMap(\.value)
    }
}
