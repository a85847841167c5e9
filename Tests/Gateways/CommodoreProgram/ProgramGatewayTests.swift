import CommodoreGateway
import Elemental
import PETSCII
import TestSupport
import Testing
import VirtualCommodore

/// The program on a virtual Commodore at original speed, behind a gateway, with a client on the network. ``LoadTests`` checks
/// how long a value takes to the border, in the machine's cycles.
@Suite(.enabled(if: CommodoreProgram.isAvailable), .backstop)
struct ProgramGatewayTests {
    @Test
    func clientAndCommodoreReachEachOther() async throws {
        let program = try Program(prg: try await CommodoreProgram.prg)
        try await withGateway(.virtual(program, standard: .pal)) { running in
            let machine = try #require(running.gateway.virtualMachine)
            let client = try await running.client()
            try await eventually("the program") { client.value(of: CommodoreElements.program) == "commodore" }
            let lines = Transcript<String>()
            client.onValue(of: CommodoreElements.line) { lines.add($0) }
            try client.send(5, to: CommodoreElements.border)
            try client.send("Grüße, Commodore!", to: CommodoreElements.print)
            try client.send(440, to: CommodoreElements.frequencies[0])
            try await shows(machine) {
                $0.screenRows[11] == "Gruesse, Commodore!" && $0.borderColour == .green && $0.soundRegisters[1] == 0x1D
            }
            _ = try await machine.with { $0.type("hello, network\n") }
            try await lines.wait(for: 1)
            #expect(lines.all == ["hello, network"])
            _ = try await machine.with { $0.joystick2 = [.fire, .left] }
            try await eventually("the joystick") { client.value(of: CommodoreElements.joystick2) == 0b10100 }
            await client.close()
        }
    }

    /// Waits until the machine is as it should be. What is thrown otherwise has the screen.
    private func shows(
        _ machine: VirtualMachine, _ condition: @escaping @Sendable (Commodore64) -> Bool
    ) async throws {
        do {
            try await eventually { try await machine.with(condition) }
        } catch {
            throw TestSupportError("\(error)\n\(try await machine.with { $0.screenText })")
        }
    }
}
