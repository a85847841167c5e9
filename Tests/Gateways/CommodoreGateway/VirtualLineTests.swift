import Elemental
import PETSCII
import TestSupport
import Testing
import VirtualCommodore

@testable import CommodoreGateway

/// A real 6502 program inside the gateway's process.
struct VirtualLineTests {
    /// Opens the line at 1200 baud, sends `03 00` and puts each byte that comes into the border's colour.
    private static let program: [UInt8] = [
        0xA9, 0x02, 0xA2, 0x02, 0xA0, 0x00, 0x20, 0xBA, 0xFF,  // SETLFS 2, 2, 0
        0xA9, 0x02, 0xA2, 0x34, 0xA0, 0xC0, 0x20, 0xBD, 0xFF,  // SETNAM "08 00"
        0x20, 0xC0, 0xFF,  // OPEN
        0xA2, 0x02, 0x20, 0xC9, 0xFF,  // CHKOUT
        0xA9, 0x03, 0x20, 0xD2, 0xFF, 0xA9, 0x00, 0x20, 0xD2, 0xFF,  // CHROUT 03, 00
        0xA2, 0x02, 0x20, 0xC6, 0xFF,  // CHKIN
        0x20, 0xE4, 0xFF, 0xF0, 0xFB, 0x8D, 0x20, 0xD0, 0x4C, 0x29, 0xC0,  // GETIN until there is one, to $D020
        0x08, 0x00,
    ]

    @Test
    func aProgramOfTheVirtualMachineIsAnswered() async throws {
        let program = try Program(Self.program, at: 0xC000)
        try await withGateway(.virtual(program, standard: .pal)) { running in
            let machine = try #require(running.gateway.virtualMachine)
            try await eventually("white") { try await machine.with { $0.borderColour } == .white }
            let client = try await running.client()
            try await eventually("the count") { client.value(of: CommodoreElements.commandsReceived) == 1 }
            await client.close()
        }
    }

    @Test
    func aProgramThatEndsIsStartedAgain() async throws {
        // RTS: back to BASIC.
        let program = try Program([0x60] as [UInt8], at: 0xC000)
        let losses = Transcript<String>()
        let gateway = CommodoreGateway(line: .virtual(program, standard: .ntsc))
        gateway.onEvent { event in
            if case .line(.lost(let reason, _)) = event { losses.add(reason) }
        }
        try await gateway.openLine()
        try await eventually("two ends") { losses.all.count >= 2 }
        await gateway.closeLine()
        #expect(losses.all.first == "the program ended")
    }
}
