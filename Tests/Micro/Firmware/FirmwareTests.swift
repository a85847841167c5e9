import ElementalMicro
import Foundation
import TestSupport
import Testing

/// Firmware in Embedded Swift on an emulated Cortex-M4, over its UART.
@Suite(
    .enabled(if: Firmware.isBuilt, "Tests/embedded has not built the firmware"),
    .enabled(if: Sanitizer.current == nil, "a sanitizer knows no process of it"))
struct FirmwareTests {
    @Test("every type both ways, the catalogue, refusals, and current values for who comes late")
    func everyType() async throws {
        try await Firmware.run(Firmware.everyType) { firmware in
            try firmware.wait("the catalogue") { !firmware.client.frames(-5).isEmpty }
            let told = try #require(firmware.client.frames(-5).first)
            #expect(try told.withUnsafeBytes { try ElementCatalogue(wireBytes: $0) } == EveryType.all)
            func echo<Value: Equatable>(_ value: Value, _ element: Element<Value>) throws {
                firmware.client.forget()
                firmware.client.send(value, to: element)
                try firmware.wait("\(element.name) \(value)") { firmware.client.newest(element) != nil }
                #expect(firmware.client.newest(element) == value, "\(element.name)")
            }
            for value in [-100, 0, 100] as [Int8] { try echo(value, EveryType.int8) }
            for value in [0, 7, 255] as [UInt8] { try echo(value, EveryType.uint8) }
            for value in [.min, -1, .max] as [Int16] { try echo(value, EveryType.int16) }
            for value in [0, 3000] as [UInt16] { try echo(value, EveryType.uint16) }
            for value in [-70_000, 70_000] as [Int32] { try echo(value, EveryType.int32) }
            for value in [0, .max] as [UInt32] { try echo(value, EveryType.uint32) }
            for value in [.min, .max] as [Int64] { try echo(value, EveryType.int64) }
            for value in [0, .max] as [UInt64] { try echo(value, EveryType.uint64) }
            for value in [5, 21.5, 30] as [Float] { try echo(value, EveryType.float) }
            for value in [-1, 0.1, 1] as [Double] { try echo(value, EveryType.double) }
            for value in ["", "Küche 🌡", String(repeating: "x", count: 32)] { try echo(value, EveryType.string) }
            for value in [[], [0, 0, 0], [UInt8](0..<32)] as [[UInt8]] { try echo(value, EveryType.data) }
            for value in [true, false] { try echo(value, EveryType.bool) }
            try echo(Vector2(1, -2), EveryType.float2)
            try echo(Vector3(1, -2, .infinity), EveryType.float3)
            try echo(Vector4(1, -2, 3, .leastNonzeroMagnitude), EveryType.float4)
            let matrix = Matrix4x4(Vector4(1, 2, 3, 4), Vector4(5, 6, 7, 8), Vector4(9, 0, 0, 0), Vector4(0, 0, 0, 1))
            try echo(matrix, EveryType.float4x4)
            for value in ["red", "grün"] { try echo(value, EveryType.color) }
            try Self.refusals(firmware)
            // Another client: the values stand.
            try firmware.wait("a reading") { firmware.client.newest(EveryType.reading) != nil }
            let reading = try #require(firmware.client.newest(EveryType.reading))
            firmware.client = LineClient(seed: 5)
            try firmware.wait("another greeting") { firmware.client.newest(EveryType.color) != nil }
            let names = EveryType.all.elements.filter { $0.access.contains(.read) && $0.id != 19 }
            for element in names { #expect(!firmware.client.frames(element.id).isEmpty, "\(element.name)") }
            #expect(firmware.client.newest(EveryType.float4x4) == matrix)
            try firmware.wait("the reading") { firmware.client.newest(EveryType.reading) ?? 0 > reading }
            firmware.client.send(true, to: EveryType.button)
            try firmware.wait("the button") { firmware.client.newest(EveryType.reading) ?? .max < reading }
        }
    }

    private static func refusals(_ firmware: Firmware) throws {
        let cases: [(ElementDefinition, [UInt8], UInt8)] = [
            (EveryType.int8, [101], 1), (EveryType.uint16, [0xB9, 0x0B], 1),
            (EveryType.float, [0, 0, 0xC0, 0x7F], 1), (EveryType.uint8, [1], 2),
            (EveryType.float2, [0, 0, 0, 0, 0, 0, 0, 0x40], 1),
            (EveryType.color, Array("blue".utf8), 2),
            (EveryType.reading, [0, 0, 0, 0], 3), (EveryType.string, [UInt8](repeating: 65, count: 33), 5),
        ]
        for (element, value, reason) in cases {
            firmware.client.forget()
            firmware.client.send(element.id, value)
            try firmware.wait("the refusal of \(element.name)") { !firmware.client.frames(-11).isEmpty }
            #expect(
                firmware.client.frames(-11)[0].prefix(2) == [UInt8(bitPattern: element.id), reason], "\(element.name)")
        }
    }

    @Test("resets at random moments: each time the board is back, with the values that it has then")
    func resets() async throws {
        try await Firmware.run(Firmware.everyType, seed: 7) { firmware in
            var value: UInt32 = 0
            for round in 1...(Depth.isAll ? 40 : 10) {
                try firmware.wait("session \(round)") {
                    firmware.client.sessionCount >= round && !firmware.client.frames(-5).isEmpty
                }
                let sessions = firmware.client.sessionCount
                // Values go both ways until the reset.
                try firmware.run(firmware.random.number(0...100)) {
                    if firmware.client.isOpen, firmware.client.room > 100 {
                        value += 1
                        firmware.client.send(value, to: EveryType.uint32)
                    }
                    return false
                }
                try firmware.command("system_reset")
                // Half of them are followed by another one, while the board starts or the session begins.
                if firmware.random.once(in: 2) {
                    try firmware.run(firmware.random.number(0...200))
                    try firmware.command("system_reset")
                }
                try firmware.wait("the session after reset \(round)") {
                    firmware.client.sessionCount > sessions && !firmware.client.frames(-5).isEmpty
                }
            }
            // The board may act on the last reset only now: what was sent before is lost, and is sent again.
            var told = 0
            try firmware.wait("a value after the last reset") {
                if firmware.client.isOpen, firmware.client.sessionCount > told {
                    told = firmware.client.sessionCount
                    firmware.client.send(value + 1, to: EveryType.uint32)
                }
                return firmware.client.newest(EveryType.uint32) == value + 1
            }
        }
    }

    @Test("one byte in a hundred dropped, doubled, flipped or inserted: nothing is lost or doubled")
    func faults() async throws {
        try await Firmware.run(Firmware.everyType, seed: 3) { firmware in
            firmware.toDevice.faults = .each(0.0025)
            firmware.fromDevice.faults = .each(0.0025)
            try firmware.wait("the greeting") { !firmware.client.frames(-5).isEmpty }
            let (sessions, count) = (firmware.client.sessionCount, 60)
            for value in 1...UInt32(count) {
                firmware.client.send(value, to: EveryType.uint32)
                try firmware.wait("\(value)") { firmware.client.newest(EveryType.uint32) == value }
            }
            #expect(firmware.client.sessionCount == sessions)
            let echoed = firmware.client.frames(EveryType.uint32.id).map { UInt32($0[0]) | UInt32($0[1]) << 8 }
            #expect(echoed == Array(1...UInt32(count)))
        }
    }

    @Test("a flood of garbage both ways ends, and the line works again")
    func floods() async throws {
        try await Firmware.run(Firmware.everyType, seed: 4) { firmware in
            for round in 1...(Depth.isAll ? 3 : 1) as ClosedRange<UInt32> {
                for _ in 0..<40 {
                    let flood = (0..<1000).map { _ in UInt8(firmware.random.number(0...255)) }
                    firmware.toDevice.inject(flood, at: firmware.now)
                    firmware.fromDevice.inject(flood, at: firmware.now)
                    try firmware.run(5)
                }
                try firmware.wait("a session") { firmware.client.isOpen }
                firmware.client.send(round, to: EveryType.uint32)
                try firmware.wait("round \(round)") { firmware.client.newest(EveryType.uint32) == round }
            }
        }
    }

    @Test("a device of 16 elements takes at most 4 KB of memory with its stack, whatever its client does")
    func memory() async throws {
        try await Firmware.run(Firmware.device) { firmware in
            let (memory, base) = (6 * 1024, 0x2000_0000)
            for seed in 1...(Depth.isAll ? 3 : 1) as ClosedRange<UInt32> {
                firmware.client = LineClient(seed: seed)
                try firmware.wait("the catalogue") { !firmware.client.frames(-5).isEmpty }
                for id in 0...17 as ClosedRange<Int8> {
                    for count in [0, 1, 2, 4, 8, 12, 32, 33] {
                        try firmware.wait("room") { firmware.client.room > 60 }
                        firmware.client.send(id, [UInt8](repeating: 13, count: count))
                    }
                }
                firmware.client.send(-6, [1, 2, 3, 4, 5, 6, 7, 8])
                try firmware.wait("the answer to the ping") { !firmware.client.frames(-7).isEmpty }
                try firmware.run(1200)
            }
            let bytes = try firmware.memory(base, memory)
            // What was never used is zero, and lies between the heap and the stack: the longest run of zeros.
            var (longest, run) = (0, 0)
            for byte in bytes {
                run = byte == 0 ? run + 1 : 0
                longest = max(longest, run)
            }
            let used = memory - longest
            print("a device of 16 elements with a client: \(used) bytes of memory with its stack")
            #expect(used <= 4096)
        }
    }
}
