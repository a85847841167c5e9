import Elemental
import ElementalFollowing
import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import ElementalRecording

/// What a recorder writes, and what can be read of it.
struct RecorderTests {
    static let rover = ServiceKey(service: "robot", name: "Rover / \"1\"")

    /// Every type, with all that a catalogue can say.
    static let elements: ElementCatalogue = [
        Element<Int8>(0, "Int8"),
        Element<UInt8>(1, "Mode", range: 0...2, choices: [0: "off", 1: "he,at", 2: "\"cool\""]),
        Element<Int16>(2, "Int16", unit: "°C", range: -40...85, step: 5), Element<UInt16>(3, "UInt16"),
        Element<Int32>(4, "Int32"), Element<UInt32>(5, "UInt32"), Element<Int64>(6, "Int64"),
        Element<UInt64>(7, "UInt64"), Element<Float>(8, "Speed", unit: "m/s", range: 0.1...0.7, access: .read),
        Element<Double>(9, "Double", transport: .udp), Element<String>(10, "Note"),
        Element<Data>(11, "Picture"), Element<Bool>(12, "Camera", latest: true), Element<Vector2>(13, "Aim"),
        Element<Vector3>(14, "Motion", transport: .udp, range: -2...3e38), Element<Vector4>(15, "Quaternion").withTimes,
        Element<Matrix4x4>(16, "Pose"), Element<String>(127, "Reset", choices: ["slow", "fa\\st"], access: .write),
    ]

    static let values: [(String, ElementValue)] = [
        ("Int8", .int8(.min)), ("Mode", .uint8(2)), ("Int16", .int16(-40)), ("UInt16", .uint16(.max)),
        ("Int32", .int32(.min)), ("UInt32", .uint32(.max)), ("Int64", .int64(.min)), ("UInt64", .uint64(.max)),
        ("Speed", .float(0.1)), ("Double", .double(.infinity)),
        ("Double", .double(.leastNonzeroMagnitude)), ("Double", .double(-0.0)),
        ("Note", .string("")), ("Note", .string("a \"quoted\"\\ line\nwith \u{0} \u{1B}[31m 🍳 e\u{301} \u{200B}")),
        ("Picture", .data(Data())), ("Picture", .data(Data(0...255))), ("Camera", .bool(true)),
        ("Aim", .float2([1, -.infinity])), ("Motion", .float3([0.1, 1e-20, 3e38])),
        ("Quaternion", .float4([1, 2, 3, 4])), ("Pose", .float4x4(Matrix4x4((0..<16).map { Float($0) }))),
    ]

    /// A clock that goes on by itself with each look, and when it is told.
    final class TestClock: Sendable {
        static let start: UInt64 = 1_700_000_000_123_456_789
        let time = Locked<UInt64>(0)

        var clock: RecordingClock {
            RecordingClock(name: "test", start: Self.start) { [time] in
                time.withLock { time in
                    time += 1000
                    return time
                }
            }
        }

        func advance(_ duration: Duration) { time.withLock { $0 += UInt64(duration.nanoseconds) } }
    }

    static func options(_ clock: TestClock = TestClock()) -> RecorderOptions {
        var options = RecorderOptions()
        options.clock = clock.clock
        return options
    }

    /// Records as if a service had been followed.
    static func connect(_ recorder: Recorder, _ key: ServiceKey = rover, _ elements: ElementCatalogue = elements) {
        recorder.noteConnected(key, elements)
    }

    static func add(
        _ value: ElementValue, _ name: String, to recorder: Recorder, _ key: ServiceKey = rover,
        _ elements: ElementCatalogue = elements
    ) throws {
        recorder.note(.value(key, try #require(elements[name]), value))
    }

    /// A recorder in a folder of its own, which records a service, and what adds a value of that service.
    static func withRecorder<Result>(
        _ options: RecorderOptions = options(), _ elements: ElementCatalogue = elements,
        _ body: (_ recorder: Recorder, _ add: (ElementValue, String) throws -> Void) async throws -> Result
    ) async throws -> Result {
        try await withFolder { folder in
            let recorder = try await Recorder(path: "\(folder)/test.mcap", options: options)
            connect(recorder, rover, elements)
            return try await body(recorder) { try add($0, $1, to: recorder, rover, elements) }
        }
    }

    static func items(_ recording: Recording) async throws -> [RecordedItem] {
        var items: [RecordedItem] = []
        for try await item in recording.items { items.append(item) }
        return items
    }

    static func values(_ items: [RecordedItem]) -> [RecordedValue] {
        items.compactMap { if case .value(let value) = $0.content { value } else { nil } }
    }

    @Test("a value whose time is known was published when it was measured, others when they were recorded")
    func publishTime() async throws {
        try await withFolder { folder in
            let path = "\(folder)/test.mcap"
            let recorder = try await Recorder(path: path, options: Self.options())
            Self.connect(recorder)
            let ago = MeasurementTime(microseconds: MeasurementTime.now.microseconds - 2_000_000)
            let element = try #require(Self.elements["Quaternion"])
            let measured = ReceivedTime(time: ago, error: .zero, secondsSince1970: nil)
            recorder.note(.value(Self.rover, element, .float4([1, 2, 3, 4]), at: measured))
            try Self.add(.float4([1, 2, 3, 4]), "Quaternion", to: recorder)
            _ = await recorder.finish()
            var cursor = MCAPCursor(try RecordingFile(reading: path))
            var ages: [UInt64] = []
            while let record = try cursor.next() {
                guard case .message(let message) = record, message.channelID != RecordQueue.eventChannel else {
                    continue
                }
                ages.append(message.logTime - message.publishTime)
            }
            // The recorder's clock stands still, the machine's does not.
            #expect(ages.count == 2 && ages[0] >= 2_000_000_000 && ages[1] == 0)

            let recording = try await Recording(path: path)
            let values = Self.values(try await Self.items(recording))
            #expect(values.map(\.age.nanoseconds) == ages.map(Int64.init))
            // What is exported is when it was measured, and what is replayed is as old again.
            let line = RecordingText(recording, .json).json(values[0], .zero)
            let seconds = try #require(JSONLine(line.text)?.number("time"))
            #expect(abs(seconds - Double(recording.start - ages[0]) / 1e9) < 1e-5)
            var configuration = ServiceConfiguration()
            configuration.address = "127.0.0.1"
            configuration.isPublished = false
            let service = recording.services[0].makeService(configuration: configuration)
            try await service.start()
            let times = Locked<[ReceivedTime?]>([])
            let device = try await ElementalDevice.connect(
                host: "127.0.0.1", port: try #require(service.port), as: "client"
            ) { device in
                device.onAnyValue { element, _, device in times.withLock { $0.append(device.time(of: element)) } }
            }
            _ = try await device.catalogue()
            try await eventually("the clock") { device.clock != nil }
            let before = MeasurementTime.now.microseconds
            try await Replay().run(recording, on: [service])
            try await eventually("the values") { times.withLock { $0.count } == 2 }
            let received = times.withLock { $0 }.map { $0?.time.microseconds ?? 0 }
            #expect(received[1] - received[0] > 1_900_000 && before - received[1] < 1_900_000)
            await device.close()
            await service.stop()
        }
    }

    @Test("a file may say any time of measurement", arguments: [Int64.min, -1, 0, .max])
    func anyAge(age: Int64) async throws {
        try await Self.withRecorder { recorder, add in
            try add(.float4([1, 2, 3, 4]), "Quaternion")
            _ = await recorder.finish()
            let recording = try await Recording(path: recorder.path)
            let element = try #require(Self.elements["Quaternion"])
            let value = RecordedValue(
                service: 0, element: element, value: .float4([1, 2, 3, 4]), age: .nanoseconds(age))
            let line = RecordingText(recording, .json).json(value, .zero)
            #expect(try #require(JSONLine(line.text)?.number("time")) >= 0)
        }
    }

    @Test
    func everyValueAndTheCatalogueComeBack() async throws {
        try await Self.withRecorder { recorder, add in
            for (name, value) in Self.values { try add(value, name) }
            let summary = await recorder.finish()
            guard case .finished = summary.end else { throw TestSupportError("\(summary)") }
            #expect(summary.valueCount == Self.values.count && summary.lostCount == 0)
            #expect(summary.byteCount == UInt64(try Data(contentsOf: URL(filePath: recorder.path)).count))

            let recording = try await Recording(path: recorder.path)
            #expect(recording.isComplete && recording.omissions.isEmpty && recording.damageCount == 0)
            let service = try #require(recording.services.first)
            #expect(recording.services.count == 1 && service.service == "robot" && service.instance == Self.rover.name)
            #expect(service.elements == Self.elements)
            #expect(service.elements.wireBytes == Self.elements.wireBytes)
            let items = try await Self.items(recording)
            let values = Self.values(items)
            #expect(values.count == Self.values.count)
            for (read, (name, value)) in zip(values, Self.values) {
                #expect(read.element.name == name)
                // Bit for bit: -0.0 equals 0.0.
                #expect(read.value.wireBytes == value.wireBytes, "\(name) \(value)")
            }
            #expect(items.map(\.time) == items.map(\.time).sorted())
            #expect(recording.start == TestClock.start + 1000)
            let events = try await recording.events()
            #expect(events.count == 1)
        }
    }

    @Test
    func aNaNStaysOne() throws {
        for value in [ElementValue.float(.nan), .double(-.nan), .float3([1, .nan, 2])] {
            var bytes: [UInt8] = []
            value.appendMessage(to: &bytes)
            #expect(MessageForm.own.value(of: bytes, value.type)?.description == value.description)
        }
    }

    @Test(.enabled(if: MCAPPeer.isThere, Comment(rawValue: MCAPPeer.missing)))
    func theFormatsOwnReaderReadsIt() async throws {
        let clock = TestClock()
        try await Self.withRecorder(Self.options(clock)) { recorder, add in
            // Several chunks, of which not all have all channels.
            for round in 0..<5 {
                for (name, value) in Self.values where round != 2 || name == "Speed" { try add(value, name) }
                await recorder.flush()
                clock.advance(.seconds(1))
            }
            recorder.note(
                .state(
                    Self.rover,
                    .away(FollowingProblem(.unreachable, code: "networkError", "the cable\nis \"out\""), retryIn: nil)))
            let summary = await recorder.finish()

            let content = try await MCAPPeer.read(recorder.path)
            #expect(content.library == "elemental" && content.chunks == 6)
            // The two events besides the values.
            #expect(content.count == summary.valueCount + 2 && content.messages.count == content.count)
            #expect(content.indexed == content.count)
            #expect(content.messages.map(\.time) == content.messages.map(\.time).sorted())
            #expect(content.messages.last?.topic == "elemental/events")
            #expect(content.metadata["elemental.recording"]?["start"] == "\(TestClock.start)")
            #expect(content.metadata["elemental.end"]?["lost"] == "0")
            let channels = try #require(content.channels)
            #expect(channels.count == Self.elements.count + 1)
            let speed = try #require(channels["robot/\(Self.rover.name)/Speed"])
            let expected = [
                "service": "robot", "instance": Self.rover.name, "id": "8", "type": "float", "unit": "m/s",
                "access": "ro", "transport": "tcp",
            ]
            for (key, value) in expected { #expect(speed[key] == value) }
            // The third value of the element.
            let speeds = content.messages.filter { $0.topic == "robot/\(Self.rover.name)/Speed" }
            #expect(speeds.map(\.sequence) == [0, 1, 2, 3, 4] && speeds[0].schema == "elemental.float")
        }
    }

    @Test
    func elementsThatChangeAreTold() async throws {
        let other: ElementCatalogue = [Element<Double>(8, "Speed"), Element<Bool>(12, "Camera", latest: true)]
        try await Self.withRecorder { recorder, add in
            try add(.float(0.5), "Speed")
            recorder.note(
                .state(
                    Self.rover,
                    .away(
                        FollowingProblem(.unreachable, code: "connectionFailed", "out of reach"), retryIn: .seconds(1)))
            )
            // What it does not belong to is not recorded.
            Self.connect(recorder, Self.rover, other)
            try Self.add(.double(2), "Speed", to: recorder, Self.rover, other)
            recorder.note(.state(Self.rover, .gone))
            Self.connect(recorder)
            try add(.float(0.6), "Speed")
            _ = await recorder.finish()

            let recording = try await Recording(path: recorder.path)
            let service = try #require(recording.services.first)
            #expect(recording.services.count == 1)
            #expect(service.catalogues == [Self.elements, other])
            #expect(service.valueCounts[0].reduce(0, +) == 2 && service.valueCounts[1] == [1, 0])
            let items = try await Self.items(recording)
            #expect(Self.values(items).map(\.value) == [.float(0.5), .double(2), .float(0.6)])
            let events = items.compactMap { item -> RecordedEvent? in
                if case .event(let event, service: 0) = item.content { event } else { nil }
            }
            #expect(events.map(\.kind) == [.connected, .away, .connected, .away, .connected])
            #expect(events.map(\.catalogue) == [0, nil, 1, nil, 0])
            #expect(events[1].reason == "out of reach")
            #expect(events.compactMap { service.elements(from: $0) } == [Self.elements, other, Self.elements])
            #expect(try await recording.events(atMost: 3).count == 3)
        }
    }

    @Test
    func onlyNamedElementsAreRecorded() async throws {
        var options = Self.options()
        options.elements = ["speed", "Note", "nothing"]
        try await Self.withRecorder(options) { recorder, add in
            for (name, value) in Self.values { try add(value, name) }
            #expect(await recorder.finish().valueCount == 3)
            let recording = try await Recording(path: recorder.path)
            #expect(recording.services[0].elements.map(\.name) == ["Speed", "Note"])
        }
    }

    /// What does not fit into the queue is told, in its place and at the end.
    @Test
    func whatComesTooFastIsTold() async throws {
        var options = Self.options()
        options.maximumPendingByteCount = 10_000
        options.interval = .seconds(3600)
        try await Self.withRecorder(options) { recorder, add in
            await recorder.flush()
            for _ in 0..<1000 { try add(.float(0.5), "Speed") }
            await recorder.flush()
            // One that is longer than all that may wait is taken alone.
            try add(.data(Data(count: 50_000)), "Picture")
            try add(.float(0.25), "Speed")
            let summary = await recorder.finish()
            #expect(summary.lostCount > 800 && summary.lostCount + summary.valueCount == 1002)
            let recording = try await Recording(path: recorder.path)
            let items = try await Self.items(recording)
            var missing: [Int] = []
            for item in items {
                if case .event(let event, _) = item.content, event.kind == .lost { missing.append(event.count ?? 0) }
            }
            #expect(missing.reduce(0, +) == summary.lostCount && missing.last == 1)
            #expect(Self.values(items).last?.value == .data(Data(count: 50_000)))
            #expect(recording.valueCount == summary.valueCount)
        }
    }

    @Test
    func aServiceWhoseElementsChangeForEverIsBounded() async throws {
        try await withFolder { folder in
            let recorder = try await Recorder(path: "\(folder)/many.mcap", options: Self.options())
            for number in 0..<200 {
                let elements = try ElementCatalogue(
                    (0..<100).map { try ElementDefinition(id: $0, name: "\(number).\($0)", type: .bool) })
                Self.connect(recorder, Self.rover, elements)
            }
            _ = await recorder.finish()
            let recording = try await Recording(path: recorder.path)
            #expect(recording.services[0].catalogues.count == RecordQueue.mostChannels / 100)
            let last = try await recording.events().last
            guard case .event(let event, _)? = last?.content else { throw TestSupportError("no event") }
            #expect(event.kind == .refused)
        }
    }
}
