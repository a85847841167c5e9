import TestSupport
import Testing

@testable import ElementalMicro

/// A device's service with a client on the line.
struct ElementalMicroTests {
    enum Lamp {
        static let brightness = Element<Float>(1, "Brightness", unit: "%", range: 0...1, step: 0.1)
        static let motion = Element<Vector3>(
            2, "Motion", transport: .udp, range: -100...100, access: .read, latest: true)
        static let mode = Element<UInt8>(3, "Mode", choices: [0: "off", 7: "on"])
        static let count = Element<UInt32>(4, "Count", access: .read)
        static let label = Element<String>(5, "Label")
        static let reset = Element<Bool>(6, "Reset", access: .write)
        static let level = Element<Int16>(7, "Level", range: -5...5)
        static let all: ElementCatalogue = [brightness, motion, mode, count, label, reset, level]
    }

    private func pair() -> Pair { Pair(ElementalService("lamp", displayName: "Desk lamp", elements: Lamp.all)) }

    @Test("a client gets -1, hello, identity, catalogue and the current values, in this order")
    func greeting() throws {
        let pair = pair()
        try pair.service.send(0.5, to: Lamp.brightness)
        try pair.service.send(0.25, to: Lamp.brightness)
        try pair.service.send("desk", to: Lamp.label)
        pair.run()
        let frames = pair.client.frames
        #expect(frames.map(\.id) == [-1, -4, -15, -5, 1, 5])
        #expect(frames.first?.value == [0])
        let hello = try #require(pair.client.frames(-4).first).withUnsafeBytes { Hello(wireBytes: $0) }
        #expect(hello == Hello(features: [.emptyValues, .catalogue, .ping, .refusals]))
        let identity = try #require(pair.client.frames(-15).first).withUnsafeBytes { SerialIdentity(wireBytes: $0) }
        #expect(identity?.service == "lamp" && identity?.displayName == "Desk lamp")
        let told = try #require(pair.client.frames(-5).first)
        let catalogue = try told.withUnsafeBytes { try ElementCatalogue(wireBytes: $0) }
        #expect(catalogue == Lamp.all)
        #expect(pair.client.newest(Lamp.brightness) == 0.25)
        #expect(pair.client.newest(Lamp.label) == "desk")
        #expect(pair.service.isConnected)
    }

    @Test("names that are longer than the line's queue are told all the same")
    func longNames() throws {
        var configuration = ElementalService.Configuration()
        configuration.link.sendByteCount = 0
        let (service, name) = (String(repeating: "s", count: 63), String(repeating: "n", count: 63))
        let pair = Pair(
            ElementalService(service, displayName: name, elements: [Lamp.count], configuration: configuration))
        pair.run()
        #expect(pair.client.frames.map(\.id) == [-1, -4, -15, -5])
        let identity = try #require(pair.client.frames(-15).first).withUnsafeBytes { SerialIdentity(wireBytes: $0) }
        #expect(identity?.service == service && identity?.displayName == name)
    }

    @Test("as many and as long texts as there can be: 128 KiB of values")
    func mostMemory() throws {
        let texts = (0...127).map { Element<String>($0, "Text \($0)") }
        let service = try ElementalService(
            "lamp", elements: ElementCatalogue(texts.map(\.definition)),
            configuration: ElementalService.Configuration(maximumTextByteCount: 1024))
        for (number, element) in texts.enumerated() {
            try service.send(String(repeating: "\(number % 10)", count: 1024), to: element)
        }
        for (number, element) in texts.enumerated() {
            #expect(service.value(of: element) == String(repeating: "\(number % 10)", count: 1024))
        }
        #expect(throws: SendError.tooLong) { try service.send(String(repeating: "x", count: 1025), to: texts[127]) }
    }

    @Test("a client that does not ask for the catalogue does not get it, and one without a hello nothing but -1")
    func lessGreeting() throws {
        let pair = pair()
        try pair.service.send(0.5, to: Lamp.brightness)
        pair.client.greets = false
        pair.run()
        #expect(pair.client.frames.map(\.id) == [-1])
        #expect(!pair.service.isConnected)
        pair.client.features = []
        pair.client.hello()
        pair.run()
        #expect(pair.client.frames.map(\.id) == [-1, -4, -15, 1])
        // Empty values and refusals are not sent to it.
        try pair.service.send("", to: Lamp.label)
        pair.client.send(Lamp.brightness.id, [0, 0, 0, 0x7F])
        pair.run()
        #expect(pair.client.frames.map(\.id) == [-1, -4, -15, 1, 1])
    }

    @Test("values reach their handlers and come back as current ones")
    func values() {
        let pair = pair()
        var received: [Int16] = []
        var label: [UInt8] = []
        pair.service.relay(Lamp.brightness) { min($0, 0.75) }
        pair.service.onValue(of: Lamp.level) { received.append($0) }
        pair.service.onBytes(of: Lamp.label) { label = Array($0) }
        pair.run()
        pair.client.forget()
        pair.client.send(1, to: Lamp.brightness)
        pair.client.send(-3, to: Lamp.level)
        pair.client.send(4, to: Lamp.level)
        pair.client.send("Küche", to: Lamp.label)
        pair.run()
        #expect(pair.client.newest(Lamp.brightness) == 0.75)
        #expect(pair.service.value(of: Lamp.brightness) == 0.75)
        #expect(received == [-3, 4])
        #expect(label == Array("Küche".utf8))
        #expect(pair.client.frames.count == 1)
    }

    @Test("what is outside ranges, choices and access is refused, with the current value behind it")
    func refusals() throws {
        let pair = pair()
        var handled = 0
        pair.service.onValue(of: Lamp.brightness) { _ in handled += 1 }
        pair.service.onValue(of: Lamp.mode) { _ in handled += 1 }
        pair.service.onValue(of: Lamp.level) { _ in handled += 1 }
        pair.service.onValue(of: Lamp.label) { _ in handled += 1 }
        pair.service.relay(Lamp.reset) { _ throws(ValueRefusal) in throw ValueRefusal("it is too late") }
        try pair.service.send(0.5, to: Lamp.brightness)
        pair.run()
        func refusal(of id: Int8, _ value: [UInt8]) -> [LineClient.Frame] {
            pair.client.forget()
            pair.client.send(id, value)
            pair.run()
            return pair.client.frames
        }
        typealias Frame = LineClient.Frame
        let half = Frame(id: 1, value: [0, 0, 0, 0x3F])
        #expect(refusal(of: 1, [0, 0, 0, 0x40]) == [Frame(id: -11, value: [1, 1]), half], "2.0")
        #expect(refusal(of: 1, [0, 0, 0xC0, 0x7F]) == [Frame(id: -11, value: [1, 1]), half], "not a number")
        #expect(refusal(of: 3, [6]) == [Frame(id: -11, value: [3, 2])])
        #expect(refusal(of: 4, [1, 0, 0, 0]) == [Frame(id: -11, value: [4, 3])])
        #expect(refusal(of: 7, [250, 255]) == [Frame(id: -11, value: [7, 1])])
        #expect(refusal(of: 6, [1]) == [Frame(id: -11, value: [6, 5] + Array("it is too late".utf8))])
        let long = refusal(of: 5, [UInt8](repeating: 65, count: 33))
        #expect(long.count == 1 && long.first?.value.prefix(2) == [5, 5])
        #expect(pair.service.rejectedCount == 7)
        // Malformed ones are counted, and not answered.
        for (id, value) in [(1, [1, 2, 3]), (6, [2]), (5, [0xFF]), (99, [1]), (7, [])] as [(Int8, [UInt8])] {
            #expect(refusal(of: id, value).isEmpty, "element \(id)")
        }
        #expect(pair.service.malformedCount == 5)
        #expect(handled == 0)
    }

    @Test("a program's own mistakes are told to it")
    func sendErrors() {
        let service = ElementalService("lamp", elements: Lamp.all)
        #expect(throws: SendError.outOfRange) { try service.send(1.5, to: Lamp.brightness) }
        #expect(throws: SendError.outOfRange) { try service.send(1, to: Lamp.mode) }
        for index in 0..<3 {
            var motion = Vector3(-100, 0, 100)
            #expect(throws: Never.self) { try service.send(motion, to: Lamp.motion) }
            motion[index] = 100.5
            #expect(throws: SendError.outOfRange) { try service.send(motion, to: Lamp.motion) }
            motion[index] = .nan
            #expect(throws: SendError.outOfRange) { try service.send(motion, to: Lamp.motion) }
        }
        #expect(throws: SendError.notAllowed) { try service.send(true, to: Lamp.reset) }
        #expect(throws: SendError.unknownElement) { try service.send(1, to: Element<UInt8>(90, "Other")) }
        #expect(throws: SendError.unknownElement) { try service.send(1, to: Element<UInt8>(1, "Brightness")) }
        #expect(throws: SendError.tooLong) { try service.send(String(repeating: "x", count: 33), to: Lamp.label) }
        #expect(throws: SendError.wrongByteCount) { try service.send(Unwritten(), to: Element<Unwritten>(3, "Mode")) }
        #expect(service.value(of: Lamp.brightness) == nil)
        #expect(service.value(of: Lamp.mode) == nil)
    }

    /// A byte that is announced and not written.
    private struct Unwritten: ElementRepresentable {
        static let elementType = ElementType.uint8

        init() {}
        init?(wireBytes bytes: UnsafeRawBufferPointer) { nil }
        init?(_: ElementValue) { nil }

        var elementValue: ElementValue { .uint8(0) }
        var wireByteCount: Int { 1 }

        func writeWireBytes(to destination: inout OutputRawSpan) {}
    }

    @Test("a line that stands still fills the queue; a latest element keeps its newest value, and nothing is lost")
    func queue() throws {
        let pair = pair()
        pair.run()
        pair.client.forget()
        pair.loses = true
        var accepted = 0
        for number in 0..<100 as Range<UInt32> {
            do { try pair.service.send(number, to: Lamp.count) } catch {
                #expect(error == .queueFull)
                break
            }
            accepted += 1
        }
        #expect((20...30).contains(accepted), "\(accepted) of 9 bytes in a queue of 256")
        for number in 0..<50 { try pair.service.send(Vector3(Float(number), 0, 0), to: Lamp.motion) }
        #expect(pair.service.value(of: Lamp.count) == UInt32(accepted - 1), "a refused value is not the current one")
        pair.loses = false
        pair.run(1000)
        #expect(pair.client.frames(4).map { UInt32($0[0]) } == Array(0..<UInt32(accepted)))
        #expect(pair.client.newest(Lamp.motion) == Vector3(49, 0, 0))
        #expect(pair.client.frames(2).count <= 2)
    }

    @Test("the answer to a ping comes behind the values before it")
    func ping() throws {
        let pair = pair()
        pair.run()
        try pair.service.send(7, to: Lamp.count)
        pair.client.forget()
        pair.client.send(Lamp.brightness.id, [0, 0, 0, 0x40])
        pair.client.send(-6, [1, 2, 3, 4, 5, 6, 7, 8])
        pair.run()
        #expect(pair.client.frames.map(\.id) == [4, -11, -7])
        #expect(pair.client.frames(-7) == [[1, 2, 3, 4, 5, 6, 7, 8]])
        // A longer one than it has memory for is left out.
        pair.client.send(-6, [UInt8](repeating: 1, count: 17))
        pair.client.send(-6, [])
        pair.run()
        #expect(pair.client.frames(-7).count == 1)
    }

    @Test("whoever begins anew, the newest values stand")
    func resets() throws {
        var ends: [Bool] = []
        let pair = pair()
        pair.service.onConnection { ends.append($0) }
        pair.run()
        try pair.service.send(1, to: Lamp.count)
        pair.run()
        pair.client = LineClient(seed: 1)
        try pair.service.send(2, to: Lamp.count)
        pair.run(600)
        #expect(pair.client.newest(Lamp.count) == 2)
        #expect(ends == [true, false, true])
        pair.service = ElementalService("lamp", elements: Lamp.all, seed: 5)
        try pair.service.send(3, to: Lamp.count)
        pair.run(600)
        #expect(pair.client.newest(Lamp.count) == 3)
        #expect(pair.client.sessionCount == 2)
    }

    @Test("a stream that announces more than 65,535 bytes begins a new session")
    func tooLong() {
        let pair = pair()
        pair.run()
        pair.client.send(5, [])
        // A header alone, of 16 MiB.
        pair.client.sendRaw([5, 0, 0, 0, 1])
        pair.run(600)
        #expect(pair.client.sessionCount == 2)
        #expect(pair.client.frames.map(\.id) == [-1, -4, -15, -5])
        // One that is only longer than the device holds is skipped.
        pair.client.send(5, [UInt8](repeating: 65, count: 200))
        pair.run()
        #expect(pair.client.sessionCount == 2)
        #expect(pair.client.frames.last?.id == -11)
    }

    @Test("whole numbers are compared with a range as the processor's own conversion does it")
    func doubles() {
        var random = SeededGenerator(seed: 24)
        for shift in 0..<64 as Range<UInt64> {
            for near in 0...4 as ClosedRange<UInt64> {
                let top = UInt64.max >> shift
                let numbers = [top, top &- near, random.next() >> shift, 1 << shift &+ near]
                for number in numbers { #expect(ElementalService.double(number) == Double(number), "\(number)") }
            }
        }
        #expect(ElementalService.double(0) == 0)
    }

    @Test("a catalogue in parts is the whole one", arguments: [1, 2, 7, 32, 1000])
    func parts(byteCount: Int) {
        let whole = Lamp.all.wireBytes
        var parts: [UInt8] = []
        while parts.count < whole.count {
            parts += [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
                count = Lamp.all.copyWireBytes(from: parts.count, to: UnsafeMutableRawBufferPointer(buffer))
            }
        }
        #expect(parts == whole)
        #expect(Lamp.all.wireByteCount == whole.count)
    }
}
