import CommodoreGateway
import Elemental
import PETSCII
import TestSupport
import Testing
import VirtualCommodore

/// The program on a virtual Commodore at original speed, behind a gateway, with a client on the network.
@Suite(.serialized, .enabled(if: CommodoreProgram.isAvailable))
struct ProgramGatewayTests {
    /// Runs the body with a client that is connected to a machine whose program is connected.
    private func withMachine(_ body: (VirtualMachine, ElementalDevice) async throws -> Void) async throws {
        var configuration = GatewayConfiguration()
        configuration.service.address = "127.0.0.1"
        configuration.service.isPublished = false
        let program = try Program(prg: try await CommodoreProgram.prg)
        let gateway = CommodoreGateway(
            line: .virtual(program, standard: .pal), displayName: "Test", configuration: configuration)
        try await gateway.openLine()
        let result: Result<Void, any Error>
        do {
            try await gateway.service.start()
            var options = ConnectOptions()
            options.expectsHello = true
            options.timeout = .seconds(20)
            let device = try await ElementalDevice.connect(
                host: "127.0.0.1", port: try #require(gateway.service.port), as: "client", elements: nil,
                options: options)
            for await name in device.values(of: CommodoreElements.program) where name == "commodore" { break }
            result = .success(try await body(try #require(gateway.virtualMachine), device))
            await device.close()
        } catch {
            result = .failure(error)
        }
        await gateway.closeLine()
        await gateway.service.stop()
        try result.get()
    }

    /// Waits until the machine is as it should be, at most 20 s.
    private func wait(
        _ machine: VirtualMachine, _ what: String, until condition: @escaping @Sendable (Commodore64) -> Bool
    ) async throws {
        let end = SuspendingClock.now + .seconds(20)
        while try await !machine.with(condition) {
            guard SuspendingClock.now < end else {
                throw TestSupportError("\(what) did not come\n\(try await machine.with { $0.screenText })")
            }
            try await Task.sleep(for: .milliseconds(1), clock: .suspending)
        }
    }

    @Test
    func clientAndCommodoreReachEachOther() async throws {
        try await withMachine { machine, device in
            let lines = device.values(of: CommodoreElements.line)
            try device.send(5, to: CommodoreElements.border)
            try device.send("Grüße, Commodore!", to: CommodoreElements.print)
            try device.send(440, to: CommodoreElements.frequencies[0])
            try await wait(machine, "the greeting") { $0.screenRows[11] == "Gruesse, Commodore!" }
            try await wait(machine, "border and pitch") { $0.borderColour == .green && $0.soundRegisters[1] == 0x1D }
            _ = try await machine.with { $0.type("hello, network\n") }
            for await line in lines {
                #expect(line == "hello, network")
                break
            }
            let sticks = device.values(of: CommodoreElements.joystick2)
            _ = try await machine.with { $0.joystick2 = [.fire, .left] }
            for await stick in sticks where stick == 0b10100 { break }
        }
    }

    /// From the client's `send` to $D020, in real time and end to end. Printed, not checked: it depends on the load of the
    /// computer. ``LoadTests`` checks the program's share of it.
    @Test
    func theEndToEndDelayToTheBorderIsMeasured() async throws {
        try await withMachine { machine, device in
            var delays: [Double] = []
            for round in 0..<30 {
                let colour = Colour(nibble: UInt8(round % 2))
                try await Task.sleep(for: .milliseconds(200 + round * 7), clock: .suspending)
                let start = SuspendingClock.now
                try device.send(colour.rawValue, to: CommodoreElements.border)
                try await wait(machine, "the border") { $0.borderColour == colour }
                delays.append((SuspendingClock.now - start) / .milliseconds(1))
            }
            delays.sort()
            print(
                "set border, from the client to $D020 in real time: median \(delays[15]) ms, least \(delays[0]) ms,",
                "most \(delays[29]) ms; the line alone takes 66.7 ms")
        }
    }
}
