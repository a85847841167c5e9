import Foundation
import MachineReadings
import Testing

@Suite struct MachineTests {
    @Test func theProcessorsZoneIsChosen() throws {
        try withDirectory { root in
            try write("acpitz\n", to: root + "/thermal_zone0/type")
            try write("27800\n", to: root + "/thermal_zone0/temp")
            try write("iwlwifi_1\n", to: root + "/thermal_zone1/type")
            #expect(ThermalZone.processor(in: root) == nil)
            try write("cpu-thermal\n", to: root + "/thermal_zone10/type")
            #expect(ThermalZone.processor(in: root) == nil, "a zone that tells no temperature is no zone")
            try write("48312\n", to: root + "/thermal_zone10/temp")
            let zone = try #require(ThermalZone.processor(in: root))
            #expect(zone.type == "cpu-thermal")
            #expect(zone.celsius() == 48.312)
        }
    }

    @Test func noSensors() { #expect(ThermalZone.processor(in: "/nowhere") == nil) }

    @Test func aMissingFileIsNamed() {
        var machine = Machine(proc: "/nowhere")
        #expect(throws: ReadingError.self) { try machine.sample() }
        do {
            _ = try machine.sample()
        } catch {
            #expect(error.path == "/nowhere/net/dev")
        }
    }

    #if os(Linux)
    @Test func thisMachine() throws {
        var machine = Machine()
        let first = try machine.sample()
        #expect(first.networkRates == nil)
        #expect(first.memory.total > first.memory.used)
        #expect(first.uptime.seconds > 0)
        #expect(try machine.sample().uptime.seconds >= first.uptime.seconds)
    }
    #endif

    private func withDirectory(_ body: (String) throws -> Void) throws {
        let root = NSTemporaryDirectory() + "machine-readings-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: root) }
        try body(root)
    }

    private func write(_ text: String, to path: String) throws {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try text.write(toFile: path, atomically: false, encoding: .utf8)
    }
}
