import Elemental
import Foundation
import TestSupport
import Testing

@testable import SerialGateway

/// Values of devices that a gateway keeps, with real lines and real clients.
@Suite(.backstop)
struct DeviceHistoryTests {
    private static let tcp = SerialLine.listen(host: "127.0.0.1", port: 0)
    private static let limits = HistoryLimits(seconds: 24 * 3600)

    /// Lets the device say numbers, and waits until the gateway has them.
    private func say(_ numbers: ClosedRange<UInt32>, _ board: TestBoard, to running: RunningSerialGateway) async throws
    {
        for number in numbers {
            board.perform { try? $0.send(number, to: Oven.count) }
            // The device sends the newest value only.
            try await eventually("the value \(number)") { running.device?.value(of: Oven.count) == number }
        }
    }

    /// All that there is of the count.
    private func history(_ running: RunningSerialGateway) async throws -> [HistoryItem<UInt32>] {
        let client = try await running.client()
        // A device says nothing of times and histories: the gateway does.
        let element = try #require(client.catalogue?[id: Oven.count.id])
        #expect(element.timed && element.history == Self.limits)
        try await eventually("the clock") { client.clock != nil }
        var items: [HistoryItem<UInt32>] = []
        for try await item in client.history(of: Oven.count, from: .oldest, follows: false) { items.append(item) }
        await client.close()
        return items
    }

    private func expect(
        _ numbers: ClosedRange<UInt32>, in items: [HistoryItem<UInt32>], since start: MeasurementTime,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let values = items.compactMap { if case .value(let value) = $0 { value } else { nil } }
        #expect(values.map(\.value) == Array(numbers), sourceLocation: sourceLocation)
        #expect(values.count == items.count, "\(items)", sourceLocation: sourceLocation)
        let times = values.compactMap(\.time)
        #expect(times.count == values.count, sourceLocation: sourceLocation)
        // Both ends are on this machine: the times differ by what a measurement over a socket is wrong.
        for time in times {
            #expect(
                time.time.microseconds + Int64(time.error / .microseconds(1)) + 1 >= start.microseconds,
                sourceLocation: sourceLocation)
        }
        #expect(times.map(\.time) == times.map(\.time).sorted(), sourceLocation: sourceLocation)
    }

    @Test(
        "over a pseudo-terminal: values before a client comes, and over resets, cables and another start of the gateway"
    )
    func kept() async throws {
        try await withFolder { folder in
            let link = "\(folder)/board"
            let start = MeasurementTime.now
            let histories = DeviceHistories.inFiles(Self.limits, directory: folder)
            try await RunningSerialGateway.with(.pseudoTerminal(link: link)) {
                $0.histories = histories
                $0.absence = .milliseconds(50)
            } _: { running in
                var board = TestBoard(.oven(), on: open(link, O_RDWR | O_NOCTTY))
                try await running.wait(for: "appeared oven/Kitchen")
                try await say(1...5, board, to: running)
                board.reset()
                // It returns, or on a slow machine comes again.
                try await running.wait(forSuffix: "ed oven/Kitchen")
                try await say(6...7, board, to: running)
                expect(1...7, in: try await history(running), since: start)
                await board.stop()
                // After the reset it may have been gone already.
                try await eventually("the device is gone") { running.events.last == "gone" }
                board = TestBoard(.oven(), on: open(link, O_RDWR | O_NOCTTY))
                try await running.wait(for: "appeared oven/Kitchen")
                try await say(8...9, board, to: running)
                expect(1...9, in: try await history(running), since: start)
                // The device sends back the value that a client sets.
                let client = try await running.client()
                try client.send(10, to: Oven.count)
                try await eventually("the device's answer") { client.value(of: Oven.count) == 10 }
                await client.close()
                await board.stop()
            }
            // The program before has its files until it ends: this is the same one, whose disk may be slow.
            try await eventually("the files are free") {
                let files = try? await ServiceHistories(inFilesOf: "oven-Kitchen", for: [], directory: folder)
                // It ends in order.
                return await files?.synchronise() == nil && files != nil
            }
            try await RunningSerialGateway.with(.pseudoTerminal(link: link)) {
                $0.histories = histories
            } _: { running in
                let board = TestBoard(.oven(), on: open(link, O_RDWR | O_NOCTTY))
                try await running.wait(for: "appeared oven/Kitchen")
                try await say(11...12, board, to: running)
                #expect(!running.events.contains { $0.hasPrefix("in memory") }, "\(running.events)")
                expect(1...12, in: try await history(running), since: start)
                await board.stop()
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/history") == ["oven-Kitchen"])
        }
    }

    @Test("in memory they outlast the cable")
    func inMemory() async throws {
        let start = MeasurementTime.now
        try await RunningSerialGateway.with(Self.tcp) {
            $0.histories = .inMemory(Self.limits)
            $0.absence = .milliseconds(50)
        } _: { running in
            for numbers in [1...3, 4...6] as [ClosedRange<UInt32>] {
                let board = try TestBoard.dial(try running.linePort, .oven())
                try await running.wait(for: "appeared oven/Kitchen")
                try await say(numbers, board, to: running)
                expect(1...numbers.upperBound, in: try await history(running), since: start)
                await board.stop()
                try await running.wait(for: "gone")
            }
        }
    }

    @Test("each device on a line has its own, and goes on with it")
    func otherDevices() async throws {
        try await withFolder { folder in
            let start = MeasurementTime.now
            try await RunningSerialGateway.with(Self.tcp) {
                $0.histories = .inFiles(Self.limits, directory: folder)
            } _: { running in
                for (name, numbers, all) in [
                    ("Kitchen", 1...3, 1...3), ("Cellar", 11...13, 11...13), ("Kitchen", 4...6, 1...6),
                ] as [(String, ClosedRange<UInt32>, ClosedRange<UInt32>)] {
                    let board = try TestBoard.dial(try running.linePort, .oven(name: name))
                    try await running.wait(for: "appeared oven/\(name)")
                    try await say(numbers, board, to: running)
                    expect(all, in: try await history(running), since: start)
                    await board.stop()
                }
                #expect(!running.events.contains { $0.hasPrefix("in memory") })
            }
        }
    }

    @Test("files that another program uses are left to it, and the values are kept in memory")
    func locked() async throws {
        try await withFolder { folder in
            let start = MeasurementTime.now
            let other = try await ServiceHistories(inFilesOf: "oven-Kitchen", for: [], directory: folder)
            try await RunningSerialGateway.with(Self.tcp) {
                $0.histories = .inFiles(Self.limits, directory: folder)
                $0.histories?.openingTime = .hours(1)
            } _: { running in
                let board = try TestBoard.dial(try running.linePort, .oven())
                try await running.wait(forPrefix: "in memory: another program")
                try await running.wait(for: "appeared oven/Kitchen")
                // The values that it sent while they were opened are there.
                try await eventually("the value") { running.device?.value(of: Oven.temperature) == 20.5 }
                try await say(1...3, board, to: running)
                expect(1...3, in: try await history(running), since: start)
                await board.stop()
            }
            withExtendedLifetime(other) {}
        }
    }

    @Test("files that take too long to be opened are not waited for")
    func slowFiles() async throws {
        try await withFolder { folder in
            // Its lock is waited for.
            let other = try await ServiceHistories(inFilesOf: "oven-Kitchen", for: [], directory: folder)
            try await RunningSerialGateway.with(Self.tcp) {
                $0.histories = .inFiles(Self.limits, directory: folder)
                $0.histories?.openingTime = .milliseconds(1)
            } _: { running in
                let board = try TestBoard.dial(try running.linePort, .oven())
                try await running.wait(forPrefix: "in memory: its files could not be opened")
                try await running.wait(for: "appeared oven/Kitchen")
                try await eventually("the value") { running.device?.value(of: Oven.temperature) == 20.5 }
                await board.stop()
            }
            withExtendedLifetime(other) {}
        }
    }

    /// A device that is another one each time it is reset: it has 100 elements, by the number of the start.
    private static func changing(hasOtherNames: Bool) -> TestBoard.Firmware {
        TestBoard.Firmware { seed in
            let elements = (0..<100).compactMap { id in
                try? ElementDefinition(id: id, name: "\(seed) \(id)", type: .uint32, access: .read)
            }
            let device = ElementalMicroService(
                "oven", displayName: hasOtherNames ? "Oven \(seed)" : "Oven",
                elements: (try? ElementCatalogue(elements)) ?? [], seed: seed)
            for element in elements {
                withUnsafeBytes(of: seed.littleEndian) { try? device.send(bytes: $0, to: element) }
            }
            return device
        }
    }

    @Test("a device that changes its elements all the time fills neither disk nor memory, and is served")
    func changingElements() async throws {
        try await withFolder { folder in
            try await RunningSerialGateway.with(Self.tcp) {
                $0.histories = .inFiles(Self.limits, directory: folder)
            } _: { running in
                let board = try TestBoard.dial(try running.linePort, Self.changing(hasOtherNames: false))
                for start in 1...8 as ClosedRange<UInt32> {
                    try await eventually("the elements of start \(start)") {
                        guard let device = running.device, let last = device.elements[id: 99] else { return false }
                        return last.name == "\(start) 99" && device.value(of: last) == .uint32(start)
                    }
                    if start < 8 { board.reset() }
                }
                let client = try await running.client()
                let element = try #require(client.catalogue?[id: 99])
                var values: [ElementValue] = []
                for try await item in client.anyHistory(of: element, from: .oldest, follows: false) {
                    if case .value(let value) = item { values.append(value.value) }
                }
                #expect(values == [.uint32(8)])
                await client.close()
                await board.stop()
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/history/oven-Oven")
            #expect(files.count == 512 + 2, "and the lock, and what says that they bound the numbers")
        }
    }

    @Test("a device that changes its name all the time gets so many folders, and is served")
    func changingNames() async throws {
        try await withFolder { folder in
            let histories = DeviceHistories.inFiles(Self.limits, directory: folder)
            for index in 0..<DeviceHistories.maximumFolderCount - 2 {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/history/\(index)", withIntermediateDirectories: true)
            }
            try await RunningSerialGateway.with(Self.tcp) {
                $0.histories = histories
            } _: { running in
                let board = try TestBoard.dial(try running.linePort, Self.changing(hasOtherNames: true))
                for start in 1...4 {
                    if start > 2 { try await running.wait(forPrefix: "in memory: 64 services") }
                    try await running.wait(for: "appeared oven/Oven \(start)")
                    board.reset()
                }
                await board.stop()
            }
            let folders = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/history")
            #expect(folders.count == DeviceHistories.maximumFolderCount)
        }
    }

    @Test("folders have names that the file system and 'history clear' take, each device its own")
    func folders() {
        #expect(DeviceHistories.folder(of: "oven", "Kitchen") == "oven-Kitchen")
        let others = [
            ("oven", "Küche"), ("oven", "K__che"), ("oven", "../../etc"), ("oven", "a b"), ("oven", "a_b"),
            ("a-b", "c"),
            ("a", "b-c"), ("oven", ""), ("oven", String(repeating: "a", count: 63)),
            ("oven", String(repeating: "a", count: 62) + "b"), ("oven", "\0\n"),
        ].map(DeviceHistories.folder)
        #expect(Set(others).count == others.count)
        for name in others {
            #expect(
                (1...63).contains(name.utf8.count)
                    && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") },
                "\(name)")
        }
    }
}
