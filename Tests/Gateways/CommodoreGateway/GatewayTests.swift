import Elemental
import Foundation
import PETSCII
import SerialLines
import TestSupport
import Testing
import VirtualCommodore

@testable import CommodoreGateway

/// The gateway with real lines and real clients.
struct GatewayTests {
    /// A value to the machine and one from it. A program gets the colour that was set for the program before it, too.
    private func exchange(
        _ machine: some MachineEnd, _ running: RunningGateway, says letter: Character = "i", after colour: UInt8? = nil,
        sets newColour: UInt8 = 6
    ) async throws {
        let client = try await running.client()
        let typed = Transcript<String>()
        client.onValue(of: CommodoreElements.line) { typed.add($0) }
        try await eventually("present") { client.value(of: CommodoreElements.present) == true }
        try await machine.connect("den")
        try await eventually("program") { client.value(of: CommodoreElements.program) == "den" }
        if let colour { #expect(try await machine.readRecord() == [3, 6, 1, 1, 0, 0, 0, colour]) }
        try client.send(newColour, to: CommodoreElements.border)
        #expect(try await machine.readRecord() == [3, 6, 1, 1, 0, 0, 0, newColour])
        try machine.write([6, 7, 4, 2, 0, 0, 0, 0x48] + [UInt8](petscii: String(letter), in: .lowerCase))
        #expect(try await machine.readRecord() == [1, 0])
        try await eventually("the line") { typed.all.last == "h\(letter)" }
        try await eventually("the border") { client.value(of: CommodoreElements.border) == newColour }
        await client.close()
    }

    @Test
    func overAPseudoTerminalWhoseProgramComesAndGoes() async throws {
        try await withFolder { folder in
            let link = "\(folder)/c64"
            try await withGateway(.pseudoTerminal(link: link)) { running in
                #expect(running.lineName == link)
                // A client is told the line of the one before, too.
                for (letter, colours) in [("i", (nil, 6)), ("a", (6, 7))] as [(Character, (UInt8?, UInt8))] {
                    try await exchange(
                        try Terminal(path: link), running, says: letter, after: colours.0, sets: colours.1)
                    let client = try await running.client()
                    try await eventually("away") { client.value(of: CommodoreElements.present) == false }
                    #expect(client.value(of: CommodoreElements.program) == "")
                    await client.close()
                }
            }
            #expect(!FileManager.default.fileExists(atPath: link))
        }
    }

    @Test(arguments: [(600, speed_t(B600), false), (38400, speed_t(B38400), true)])
    func overASerialDeviceSetRaw(_ baud: Int, _ speed: speed_t, _ usesFlowControl: Bool) async throws {
        let (descriptor, path) = try TerminalDevice.makePseudoTerminal()
        let machine = Terminal(descriptor: descriptor)
        try await withGateway(.serial(path: path)) {
            $0.baud = baud
            $0.usesFlowControl = usesFlowControl
        } _: { running in
            try await exchange(machine, running)
            var settings = termios()
            #expect(tcgetattr(descriptor, &settings) == 0)
            #expect(cfgetospeed(&settings) == speed)
            #expect(settings.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == 0)
            #expect(settings.c_cflag & tcflag_t(CSIZE | PARENB | CSTOPB) == tcflag_t(CS8))
            #expect((tcflag_t(settings.c_cflag) & tcflag_t(CRTSCTS) != 0) == usesFlowControl)
        }
    }

    @Test
    func overIP232WithItsWires() async throws {
        try await withGateway(.tcp(host: "127.0.0.1", port: 0, usesIP232: true)) { running in
            let machine = try RawSocket.connect(to: try running.linePort)
            #expect(try await machine.read(2) == [0xFF, 0])
            try machine.write([0xFF, 1])
            let address = Array("elemental:x".utf8)
            try machine.write([3, 0, 5, UInt8(address.count)] + address)
            let answers = ModemResult.ok.bytes + ModemResult.connected.bytes
            let came = try await machine.read(answers.count + 2)
            var decoder = IP232()
            #expect(came.compactMap { decoder.receive($0) }.contains(.terminalReady(true)))
            #expect(came.filter { $0 != 0xFF }.count == answers.count + 1)
            let client = try await running.client()
            try await eventually("program") { client.value(of: CommodoreElements.program) == "x" }
            // The program lets go of the line.
            try machine.write([0xFF, 0])
            try await eventually("no program") { client.value(of: CommodoreElements.program) == "" }
            await client.close()
        }
    }

    @Test
    func aLineThatIsCutInARecordAndRestoredGoesOn() async throws {
        try await withGateway(.loopback) { running in
            let client = try await running.client()
            for round in 0..<5 {
                let machine = try RawSocket.connect(to: try running.linePort)
                try await machine.connect("round\(round)")
                // Cut while a record goes out and half a command came in.
                try client.send(String(repeating: "x", count: 200), to: CommodoreElements.print)
                _ = try await machine.read(20)
                try machine.write([6, 40, 4, 30, 0, 0, 0, 0x41])
                try await eventually { client.value(of: CommodoreElements.program) == "round\(round)" }
                machine.closeOutput()
                try await eventually("away") { client.value(of: CommodoreElements.present) == false }
            }
            await client.close()
            let machine = try RawSocket.connect(to: try running.linePort)
            // What is left of the command that was cut.
            try machine.write(Array("AAAAAAA".utf8))
            try await exchange(machine, running)
        }
    }

    @Test
    func anEmulatorThatDialsAgainHasTheLine() async throws {
        try await withGateway(.loopback) { running in
            let first = try RawSocket.connect(to: try running.linePort)
            try await first.connect("first")
            let second = try RawSocket.connect(to: try running.linePort)
            try await exchange(second, running)
            #expect(try await first.readSome().isEmpty)
        }
    }

    @Test
    func memoryIsClosedUnlessAllowed() async throws {
        try await withGateway(.loopback) { running in
            let client = try await running.client()
            #expect(client.knownElements[id: 19] == nil && client.knownElements[id: 21] == nil)
            await client.close()
        }
        try await withGateway(.loopback) {
            $0.allowsMemory = true
        } _: { running in
            let machine = try RawSocket.connect(to: try running.linePort)
            try await machine.connect()
            let client = try await running.client()
            try client.send(Data([0x20, 0xD0, 2]), to: CommodoreElements.memoryRead)
            #expect(try await machine.readRecord() == [3, 8, 20, 3, 0, 0, 0, 0x20, 0xD0, 2])
            try machine.write([6, 9, 21, 4, 0, 0, 0, 0x20, 0xD0, 14, 6])
            try await eventually { client.value(of: CommodoreElements.memory) == Data([0x20, 0xD0, 14, 6]) }
            await client.close()
        }
    }

    @Test
    func aProgramsOwnCatalogueReachesClientsThatConnectAgain() async throws {
        try await withGateway(.loopback) { running in
            let machine = try RawSocket.connect(to: try running.linePort)
            try await machine.connect()
            let old = try await running.client()
            let catalogue: [UInt8] = [1, 1, 2, 0b1100, 5, 0x53, 0x50, 0x45, 0x45, 0x44]
            try machine.write([6, UInt8(catalogue.count + 5), 0xF6, UInt8(catalogue.count), 0, 0, 0] + catalogue)
            #expect(try await machine.readRecord() == [1, 0])
            let reason = try await old.waitUntilDisconnected()
            #expect("\(reason)".contains("other elements"))
            let client = try await running.client()
            #expect(client.knownElements.first?.name == "speed")
            #expect(client.knownElements["present"] != nil && client.knownElements["border"] == nil)
            try client.send(.uint8(7), to: try #require(client.knownElements["speed"]))
            #expect(try await machine.readRecord() == [3, 6, 1, 1, 0, 0, 0, 7])
            await client.close()
        }
    }

    @Test
    func linesThatCannotBeOpenedSayWhy() async throws {
        for (line, hint) in [
            (GatewayLine.serial(path: "/dev/nothing-there"), "plugged in"),
            (.serial(path: "/dev/null"), "not a serial"),
            (.pseudoTerminal(link: "/nowhere/link"), "/nowhere/link"),
        ] {
            let gateway = CommodoreGateway(line: line)
            let error = await #expect(throws: GatewayError.self) { try await gateway.openLine() }
            #expect(error?.message.contains(hint) == true, "\(String(describing: error))")
        }
        try await withGateway(.loopback) { running in
            let gateway = CommodoreGateway(
                line: .tcp(host: "127.0.0.1", port: try running.linePort, usesIP232: false))
            let error = await #expect(throws: GatewayError.self) { try await gateway.openLine() }
            #expect(error?.message.contains("is in use") == true)
        }
    }
}
