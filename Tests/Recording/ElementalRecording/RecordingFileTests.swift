import Elemental
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalRecording

/// The file of a recording: how it begins and ends, what the system says of it, and what is kept in memory beside it.
struct RecordingFileTests {
    @Test
    func aFileThatIsThereIsNotWrittenOver() async throws {
        try await withFolder { folder in
            let path = "\(folder)/there.mcap"
            try Data("precious".utf8).write(to: URL(filePath: path))
            await #expect { _ = try await Recorder(path: path) } throws: {
                ($0 as? RecordingError)?.code == .fileExists
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("precious".utf8))
            await #expect { _ = try await Recorder(path: "\(folder)/no/such.mcap") } throws: {
                ($0 as? RecordingError)?.code == .noSuchFile
            }
        }
    }

    /// What the system says of a file, by what a user can do about it.
    @Test(arguments: [
        (EEXIST, RecordingError.Code.fileExists), (ENOENT, .noSuchFile), (ENOTDIR, .noSuchFile),
        (EACCES, .permissionDenied), (EPERM, .permissionDenied), (EISDIR, .permissionDenied), (EROFS, .readOnly),
        (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EFBIG, .diskFull), (EIO, .inputOutput), (ENODEV, .inputOutput),
    ])
    func systemErrorsHaveCodes(_ number: CInt, _ code: RecordingError.Code) {
        let error = RecordingError("a.mcap", cannot: "record to", number)
        #expect(error.code == code)
        #expect(error.message.hasPrefix("cannot record to a.mcap: "))
        if code == .inputOutput { #expect(error.message.hasSuffix(String(cString: strerror(number)))) }
    }

    /// Nothing is mapped at the beginning of a process's memory, which is a file.
    @Test
    func aFileThatCannotBeReadIsTold() throws {
        let file = try RecordingFile(reading: "/proc/self/mem")
        let error = #expect(throws: RecordingError.self) { try file.read(at: 0, 16) }
        #expect(error?.code == .inputOutput)
    }

    @Test
    func aFileThatIsRemovedEndsTheRecording() async throws {
        try await RecorderTests.withRecorder { recorder, add in
            try add(.float(0.5), "Speed")
            await recorder.flush()
            try FileManager.default.removeItem(atPath: recorder.path)
            try add(.float(0.6), "Speed")
            await recorder.waitUntilFull()
            let summary = await recorder.finish()
            guard case .failed(let error) = summary.end else { throw TestSupportError("\(summary.end)") }
            #expect(error.code == .removed)
        }
    }

    @Test
    func theLargestSizeIsKept() async throws {
        var options = RecorderTests.options()
        options.maximumByteCount = RecorderOptions.smallestMaximumByteCount
        try await RecorderTests.withRecorder(options) { recorder, add in
            let path = recorder.path
            let full = Task { await recorder.waitUntilFull() }
            for number in 0..<3000 {
                try add(.double(Double(number)), "Double")
                if number % 100 == 0 { await recorder.flush() }
            }
            await full.value
            let summary = await recorder.finish()
            guard case .limitReached = summary.end else { throw TestSupportError("\(summary.end)") }
            let size = try Data(contentsOf: URL(filePath: path)).count
            #expect(size <= 64 << 10 && size > 48 << 10 && UInt64(size) == summary.byteCount)
            let recording = try await Recording(path: path)
            #expect(recording.isComplete && recording.valueCount == summary.valueCount && summary.valueCount > 300)
            let values = RecorderTests.values(try await RecorderTests.items(recording)).map(\.value)
            #expect(values == (0..<summary.valueCount).map { .double(Double($0)) })
            if MCAPPeer.isThere {
                let content = try await MCAPPeer.read(path)
                #expect(content.count == summary.valueCount + 1 && content.indexed == content.count)
            }
        }
    }

    /// A day of a second each, with many channels in each: what grows is in files. In a process of its own, as others
    /// allocate in this one.
    @Test
    func aDayTakesNoMoreMemoryThanItsBeginning() async {
        await #expect(processExitsWith: .success) {
            let clock = RecorderTests.TestClock()
            try await RecorderTests.withRecorder(RecorderTests.options(clock)) { recorder, _ in
                func record(seconds: Int) async throws {
                    for _ in 0..<seconds {
                        for (name, value) in RecorderTests.values.prefix(12) {
                            try RecorderTests.add(value, name, to: recorder)
                        }
                        clock.advance(.seconds(1))
                        await recorder.flush()
                    }
                }
                try await record(seconds: 400)
                let memory = ProcessFigures(ofProcess: getpid())
                let before = try memory.residentMemory
                // Each second is a chunk with an index of eleven channels. A tenth of a day here; all of one by hand.
                let seconds =
                    ProcessInfo.processInfo.environment["ELEMENTAL_RECORD_SECONDS"].flatMap { Int($0) } ?? 8_640
                try await record(seconds: seconds)
                let summary = await recorder.finish()
                let grown = (try memory.residentMemory - before) / 1024
                #expect(summary.valueCount == (seconds + 400) * 12)
                if Sanitizer.current == nil { #expect(grown < 32, "\(grown) MiB more") }
                let recording = try await Recording(path: recorder.path)
                #expect(recording.valueCount == summary.valueCount && recording.isComplete)
            }
        }
    }
}
