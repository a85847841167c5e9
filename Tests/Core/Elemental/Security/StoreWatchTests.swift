import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Elemental

/// When the files of a store are read again.
@Suite(.backstop)
struct StoreWatchTests {
    private let looks = Transcript<String>()

    /// Runs the body with a watch of that directory, which reports the names of the files in it.
    private func withWatch(_ directory: String?, _ body: (any EventLoop) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let watch = try await loop.submit { [looks] in
            NIOLoopBound(
                StoreWatch<String>(
                    on: loop, interval: .milliseconds(5), directories: { directory.map { [$0] } },
                    read: {
                        {
                            let names = directory.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) }
                            return (names ?? []).sorted().joined(separator: " ")
                        }
                    },
                    report: { if case .success(let names) = $0 { looks.add(names) } }),
                eventLoop: loop)
        }.get()
        try await body(loop)
        try await loop.submit { watch.value.stop() }.get()
        try await group.shutdownGracefully()
    }

    #if os(Linux)
    @Test
    func theyAreReadWhenOneChangesAndNotPolled() async throws {
        try await withFolder { folder in
            try await withWatch("\(folder)") { loop in
                try await looks.wait(for: 1)
                // Timers run in their order: if it were polled, twenty looks would come between these two.
                let (first, second) = try await loop.flatSubmit { [looks] in
                    loop.scheduleTask(in: .milliseconds(100)) { looks.count }.futureResult.and(
                        loop.scheduleTask(in: .milliseconds(200)) { looks.count }.futureResult)
                }.get()
                #expect(first == second)
                try "1".write(toFile: "\(folder)/a", atomically: false, encoding: .utf8)
                try await eventually("a look at the file") { looks.all.last == "a" }
                try FileManager.default.removeItem(atPath: "\(folder)/a")
                try await eventually("a look without the file") { looks.all.last == "" }
            }
        }
    }

    @Test
    func aDirectoryThatIsReplacedIsWatched() async throws {
        try await withFolder { folder in
            let files = FileManager.default
            try files.createDirectory(atPath: "\(folder)/state", withIntermediateDirectories: false)
            try await withWatch("\(folder)/state") { loop in
                try await looks.wait(for: 1)
                try files.moveItem(atPath: "\(folder)/state", toPath: "\(folder)/old")
                try files.createDirectory(atPath: "\(folder)/state", withIntermediateDirectories: false)
                try await looks.wait(for: 2)
                try "1".write(toFile: "\(folder)/state/b", atomically: false, encoding: .utf8)
                try await eventually("a look at the new directory") { looks.all.last == "b" }
            }
        }
    }
    #endif

    @Test(arguments: [nil, "/nowhere"])
    func whatCannotBeWatchedIsPolled(_ directory: String?) async throws {
        try await withWatch(directory) { _ in try await looks.wait(for: 4) }
    }
}
