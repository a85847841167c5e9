import TestSupport
import Testing
import VirtualCommodore

/// How the program connects, and what it does when it loses the connection.
@Suite(.enabled(if: CommodoreProgram.isAvailable))
struct ConnectionTests {
    @Test(arguments: VideoStandard.allCases)
    func theProgramConnectsAndSendsItsInitialValues(_ standard: VideoStandard) async throws {
        let bench = try await Bench(standard)
        try bench.run("the panel") { $0.row(0) == "Elemental on the Commodore 64" }
        try bench.connect()
        #expect(Set(bench.values.map(\.element)) == [5, 6, 18])
        try bench.run("the state") { $0.state == "connected" }
        #expect(bench.commodore.line.statistics.overrunByteCount == 0)
    }

    @Test
    func inputDuringTheDrainIsDiscarded() async throws {
        let bench = try await Bench()
        // Junk, as an ESP8266's boot text is at this speed; then a record begun, and the OK for STOP_WIFI in the drain.
        bench.commodore.line.send(Array(repeating: 0xE7, count: 20) + [3, 200, 1, 2])
        try bench.expect(.init(code: 4, bytes: []))
        bench.send(1)
        try bench.expect(.init(code: 3, bytes: []))
        try bench.run(frames: 100)
        #expect(bench.commands.isEmpty, "the OK of STOP_WIFI is taken for START_WIFI's")
        bench.send(1)
        try bench.expect(.init(code: 5, bytes: Array("elemental:commodore".utf8)))
    }

    @Test
    func anExtraOKWhileConnectingIsNoConnection() async throws {
        let bench = try await Bench()
        try bench.expect(.init(code: 4, bytes: []))
        try bench.expect(.init(code: 3, bytes: []))
        for _ in 0..<3 { bench.send(1) }
        try bench.expect(.init(code: 5, bytes: Array("elemental:commodore".utf8)))
        try bench.run(frames: 100)
        #expect(bench.state == "connecting" && bench.values.isEmpty)
        bench.send(4, "Connected")
        try bench.run("the values") { $0.values.count == 3 }
    }

    @Test
    func anErrorIsShownAndTriedAgain() async throws {
        let bench = try await Bench()
        try bench.expect(.init(code: 4, bytes: []))
        try bench.expect(.init(code: 3, bytes: []))
        bench.send(2, "WL_NO_SSID_AVAIL here")
        try bench.run("the error's text") {
            $0.window.first?.hasPrefix("WL") == true && $0.window.first?.hasSuffix("AVAIL here") == true
        }
        try bench.connect()
    }

    @Test
    func aLostConnectionIsReestablished() async throws {
        let bench = try await Bench.connected()
        bench.send(4, "Disconnected")
        try bench.connect()
        bench.set(1, [5])
        try bench.run("the border") { $0.commodore.borderColour == .green }
    }

    @Test
    func aConnectionThatRefusesValuesIsReestablished() async throws {
        let bench = try await Bench.connected()
        bench.send(2, "Wrong value 5")
        try bench.run(frames: 200)
        #expect(bench.state == "connected" && bench.window == ["Wrong value 5"])
        bench.answersValues = false
        let count = bench.values.count
        for round in 1...4 {
            try bench.run("a value", frames: 300) { $0.values.count >= count + round }
            bench.send(2, "Send failed")
        }
        bench.answersValues = true
        try bench.connect()
    }

    @Test
    func aSilentLineIsNoConnection() async throws {
        let bench = try await Bench.connected()
        bench.answersValues = false
        try bench.run("the end of patience", frames: 600) { $0.state != "connected" }
        bench.answersValues = true
        try bench.connect()
    }

    @Test
    func anAnsweredLineStaysConnected() async throws {
        let bench = try await Bench.connected()
        try bench.run(frames: 60 * 50)
        #expect(bench.state == "connected" && bench.commands.isEmpty)
        #expect((59...62).contains(bench.values.filter { $0.element == 18 }.count))
    }

    @Test
    func anUnknownCodeRestartsTheConnection() async throws {
        let bench = try await Bench.connected()
        bench.commodore.line.send([9, 2, 3, 4])
        try bench.connect()
    }

    @Test
    func lostBytesCostOnlyTheirRecord() async throws {
        let bench = try await Bench.connected()
        // Of this record 200 bytes are missing; after a silence the next one is understood.
        bench.commodore.line.send([3, 210, 1, 1, 0, 0, 0, 2])
        try bench.settle()
        #expect(bench.commodore.borderColour == .lightBlue)
        bench.set(1, [5])
        try bench.run("the border") { $0.commodore.borderColour == .green }
        #expect(bench.state == "connected")
    }

    @Test
    func theStopKeyEndsTheProgram() async throws {
        let bench = try await Bench.connected()
        bench.commodore.isStopKeyDown = true
        try bench.expect(.init(code: 4, bytes: []))
        _ = bench.commodore.run(frames: 100) { $0.stopReason != nil }
        #expect(bench.commodore.stopReason == .returnedToBasic)
        #expect(bench.commodore.soundRegisters.allSatisfy { $0 == 0 })
    }

    @Test
    func theDiskImageHoldsTheProgram() async throws {
        let prg = try await CommodoreProgram.prg
        let disk = try await CommodoreProgram.d64
        #expect(disk.count == 174_848)
        func sector(_ track: UInt8, _ sector: UInt8) -> ArraySlice<UInt8> {
            let lengths = (1..<Int(track)).map { $0 < 18 ? 21 : $0 < 25 ? 19 : $0 < 31 ? 18 : 17 }
            let start = (lengths.reduce(0, +) + Int(sector)) * 256
            return disk[start..<start + 256]
        }
        let entry = Array(sector(18, 1))
        #expect(entry[2] == 0x82)
        #expect(entry[5..<21] == Array("COMMODORE".utf8) + Array(repeating: 0xA0, count: 7)[...])
        var next = (entry[3], entry[4])
        var bytes: [UInt8] = []
        while next.0 != 0 && bytes.count < disk.count {
            let block = Array(sector(next.0, next.1))
            next = (block[0], block[1])
            bytes += next.0 == 0 ? block[2...Int(next.1)] : block[2...]
        }
        #expect(bytes == prg)
    }
}
