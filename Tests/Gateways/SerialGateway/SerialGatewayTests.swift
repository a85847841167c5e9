import CommodoreGateway
import Elemental
import Foundation
import SerialLines
import ServiceLifecycleTestKit
import Support
import TestSupport
import Testing

@testable import SerialGateway

/// The gateway with real lines, devices in threads and real clients.
struct SerialGatewayTests {
    private static let tcp = SerialLine.listen(host: "127.0.0.1", port: 0)

    /// A value each way, and one that is refused.
    private func exchange(_ running: RunningSerialGateway) async throws {
        let client = try await running.client()
        #expect(client.catalogue == Oven.all)
        let refusals = Transcript<String>()
        client.onRefusal { element, refusal, _ in
            refusals.add("\(element.name): \(refusal)")
        }
        try await eventually("the current value") { client.value(of: Oven.temperature) == 20.5 }
        try client.send(21.5, to: Oven.target)
        try await eventually("the target") { client.value(of: Oven.target) == 21.5 }
        try client.send(27, to: Oven.target)
        // The answer to a ping comes behind it.
        _ = try await client.ping(timeout: Patience.wait)
        #expect(refusals.all == ["Target: it burns"])
        #expect(client.value(of: Oven.target) == 21.5)
        await client.close()
    }

    @Test
    func overAPseudoTerminal() async throws {
        try await withFolder { folder in
            let link = "\(folder)/board"
            try await RunningSerialGateway.with(.pseudoTerminal(link: link)) { running in
                #expect(running.lineName == link)
                let device = TestBoard(.oven(), on: open(link, O_RDWR | O_NOCTTY))
                try await exchange(running)
                await device.stop()
            }
            #expect(!FileManager.default.fileExists(atPath: link))
        }
    }

    @Test("programs close a pseudo-terminal and open it again at once")
    func reopenedPseudoTerminal() async throws {
        try await withFolder { folder in
            let link = "\(folder)/board"
            try await RunningSerialGateway.with(.pseudoTerminal(link: link)) { running in
                for _ in 0..<5 {
                    var descriptor = open(link, O_RDWR | O_NOCTTY)
                    try await running.wait(for: "opened")
                    // The gateway wakes about when the next one opens it.
                    for pause in 0..<100 {
                        close(descriptor)
                        for _ in 0..<pause { sched_yield() }
                        descriptor = open(link, O_RDWR | O_NOCTTY)
                        for _ in 0..<100 { sched_yield() }
                    }
                    close(descriptor)
                    try await running.wait(for: "line lost")
                }
                let device = TestBoard(.oven(), on: open(link, O_RDWR | O_NOCTTY))
                try await exchange(running)
                await device.stop()
            }
        }
    }

    @Test
    func aServiceGroupShutsItDownGracefully() async throws {
        try await withFolder { folder in
            let link = "\(folder)/board"
            var configuration = SerialGatewayConfiguration()
            configuration.service.address = "127.0.0.1"
            configuration.service.isPublished = false
            let gateway = SerialGateway(line: .pseudoTerminal(link: link), configuration: configuration)
            let services = Transcript<ElementalService>()
            gateway.onEvent { if case .deviceAppeared(let service) = $0 { services.add(service) } }
            let service = try await testGracefulShutdown { group in
                async let running: Void = gateway.run()
                try await eventually("a line") { FileManager.default.fileExists(atPath: link) }
                let device = TestBoard(.oven(), on: open(link, O_RDWR | O_NOCTTY))
                let service = try await services.next("a service") { _ in true }
                try await eventually("it listens") { service.port != nil }
                group.triggerGracefulShutdown()
                try await running
                await device.stop()
                return service
            }
            #expect(service.port == nil)
        }
    }

    /// Flow control in software would take two bytes out of the stream.
    @Test
    func settingsOfAnEarlierUserAreTakenBack() async throws {
        let (descriptor, path) = try TerminalDevice.makePseudoTerminal()
        var settings = termios()
        #expect(tcgetattr(descriptor, &settings) == 0)
        settings.c_iflag = tcflag_t(IXOFF | IXANY | INPCK | IGNPAR)
        settings.c_cflag |= tcflag_t(CSTOPB)
        #expect(tcsetattr(descriptor, TCSANOW, &settings) == 0)
        try await RunningSerialGateway.with(.serial(path: path)) { running in
            let device = TestBoard(.oven(), on: descriptor)
            try await running.wait(for: "appeared oven/Kitchen")
            var settings = termios()
            #expect(tcgetattr(descriptor, &settings) == 0)
            #expect(settings.c_iflag == 0 && settings.c_cflag & tcflag_t(CSTOPB) == 0)
            await device.stop()
        }
    }

    @Test
    func aDeviceThatComesAndGoesWithItsCable() async throws {
        try await withFolder { folder in
            let path = "\(folder)/cable"
            // The line is not there yet.
            try await RunningSerialGateway.with(.serial(path: path)) {
                $0.absence = .milliseconds(50)
            } _: { running in
                try await running.wait(for: "line lost")
                let (descriptor, name) = try TerminalDevice.makePseudoTerminal()
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: name)
                let device = TestBoard(.oven(), on: descriptor)
                try await running.wait(for: "appeared oven/Kitchen")
                try await exchange(running)
                await device.stop()
                try await running.wait(for: "gone")
                try FileManager.default.removeItem(atPath: path)
                // Another one at the same place.
                let (other, otherName) = try TerminalDevice.makePseudoTerminal()
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: otherName)
                let next = TestBoard(.oven(name: "Cellar"), on: other)
                try await running.wait(for: "appeared oven/Cellar")
                try await exchange(running)
                await next.stop()
            }
        }
    }

    /// What a program prints that logs each event of a gateway.
    @Test
    func eventsAreLinesWithoutEscapeSequences() {
        let (evil, shown) = ("evil\u{1B}[2J\n", #"evil\u{1B}[2J\n"#)
        let service = ElementalService("oven", displayName: "Kitchen", elements: [])
        for (event, text) in [
            (LineEvent.ready("10.0.0.1:7"), "the line is 10.0.0.1:7"), (.opened, "the line is open"),
            (.lost(evil, retryIn: .seconds(2)), "the line is lost: \(shown); retrying in 2.0 seconds"),
            (.lost(evil, retryIn: nil), "the line is lost: \(shown)"),
            (.refused(host: "10.0.0.2"), "10.0.0.2 tried to take the line, which is in use"),
            (
                .notListening("closed", retryIn: .seconds(2)),
                "the line does not listen: closed; retrying in 2.0 seconds"
            ),
        ] {
            #expect("\(event)" == text)
            #expect("\(SerialGatewayEvent.line(event))" == text && "\(GatewayEvent.line(event))" == text)
        }
        for (event, text) in [
            (SerialGatewayEvent.deviceAppeared(service), "appeared: oven/Kitchen"),
            (.deviceReturned(service), "returned: oven/Kitchen"),
            (.restored(2), "2 values of clients are sent again"),
            (.deviceLost(service), "lost: oven/Kitchen"), (.deviceGone(service), "gone: oven/Kitchen"),
            (
                .deviceRejected(evil, retryIn: .seconds(2)),
                "not published: \(shown); retrying in 2.0 seconds"
            ),
            (.problem(evil), shown),
        ] { #expect("\(event)" == text) }
        let element: ElementDefinition = Element<String>(1, "Line")
        for (event, text) in [
            (GatewayEvent.programConnected(evil), "the program '\(shown)' is connected"),
            (.programDisconnected("chat"), "the program 'chat' is disconnected"),
            (.told(element, .string(evil)), "Line=\(shown)"),
        ] { #expect("\(event)" == text) }
    }

    @Test
    func aListenerThatTheSystemClosesIsOpenedAgain() async throws {
        try await RunningSerialGateway.with(Self.tcp) { running in
            let port = try running.linePort
            let first = try RawSocket.connect(to: port)
            try await running.wait(for: "opened")
            RawSocket.shutDownListener(at: port)
            try await running.wait(for: "not listening: the system has closed the socket")
            try await running.wait(for: "ready")
            // The connection has lasted, and is replaced by a new one.
            #expect(!running.events.contains("line lost"))
            let second = try RawSocket.connect(to: port)
            try await running.wait(for: "opened")
            _ = try await first.readToEnd()
            withExtendedLifetime(second) {}
        }
    }

    @Test
    func aNameOfItsOwnOrOfTheUsers() async throws {
        try await RunningSerialGateway.with(Self.tcp) {
            $0.serviceName = "heater"
            $0.displayName = "Mine"
        } _: { running in
            let device = try TestBoard.dial(try running.linePort, .oven())
            try await running.wait(for: "appeared heater/Mine")
            await device.stop()
        }
        try await RunningSerialGateway.with(Self.tcp) { running in
            let device = try TestBoard.dial(try running.linePort, .counter)
            let name = "appeared counter/\(HostName.current) \(running.lineName)"
            try await running.wait(for: name)
            await device.stop()
        }
    }

    @Test(arguments: [false, true])
    func aResetKeepsTheClients(restores: Bool) async throws {
        try await RunningSerialGateway.with(Self.tcp) {
            $0.restores = restores
        } _: { running in
            let device = try TestBoard.dial(try running.linePort, .oven())
            let client = try await running.client()
            try client.send(21.5, to: Oven.target)
            try client.send("mine", to: Oven.label)
            try await eventually("the label") { client.value(of: Oven.label) == "mine" }
            try client.send("no", to: Oven.label)
            // Its answer is behind the refusal.
            try client.send(7, to: Oven.count)
            try await eventually("the count") { client.value(of: Oven.count) == 7 }
            device.reset()
            try await running.wait(for: "returned oven/Kitchen")
            if restores {
                try await running.wait(for: "restored 3")
                device.perform { try? $0.send(99, to: Oven.temperature) }
                try await eventually("what was sent after it") { client.value(of: Oven.temperature) == 99 }
                // It may have been sent before the board had read what is restored, but not before the board's own values.
                try await eventually("the restored value") { client.value(of: Oven.target) == 21.5 }
            } else {
                try await eventually("its own value") { client.value(of: Oven.target) == 18 }
                #expect(!running.events.contains { $0.hasPrefix("restored") })
            }
            #expect(client.isConnected)
            await client.close()
            await device.stop()
        }
    }

    @Test
    func refusalsGoToWhoeverSetTheValue() async throws {
        try await RunningSerialGateway.with(Self.tcp) { running in
            let device = try TestBoard.dial(try running.linePort, .oven())
            let (good, bad) = (try await running.client("good"), try await running.client("bad"))
            let refusals = Transcript<String>()
            for (client, name) in [(good, "good"), (bad, "bad")] {
                client.onRefusal { element, _, _ in refusals.add("\(name) \(element.name)") }
            }
            for round in 1...50 {
                let target = 5 + Float(round) / 4
                try good.send(target, to: Oven.target)
                try bad.send("no", to: Oven.label)
                try await eventually("round \(round)") {
                    refusals.count == round && good.value(of: Oven.target) == target
                }
            }
            #expect(Set(refusals.all) == ["bad Label"])
            await good.close()
            await bad.close()
            await device.stop()
        }
    }

    @Test
    func withoutItsDeviceAServiceRefuses() async throws {
        try await RunningSerialGateway.with(Self.tcp) {
            $0.absence = .seconds(60)
        } _: { running in
            let device = try TestBoard.dial(try running.linePort, .oven())
            let client = try await running.client()
            let refusals = Transcript<String>()
            client.onRefusal { _, refusal, _ in refusals.add(refusal.description) }
            await device.stop()
            try await running.wait(for: "lost")
            try client.send(20, to: Oven.target)
            try await eventually("a refusal") {
                refusals.all == ["the device on the line is not connected; try again later"]
            }
            await client.close()
        }
    }

    @Test(arguments: [0, 0.0025])
    func moreThanTheLineCarriesArrivesInOrder(faults: Double) async throws {
        try await RunningSerialGateway.with(Self.tcp) { running in
            let device = try TestBoard.dial(try running.linePort, .counter, faults: .each(faults))
            let client = try await running.client()
            let count: UInt32 = faults == 0 ? 20_000 : 500
            for number in 1...count { try await client.sendWhenReady(number, to: Oven.count) }
            try await eventually("the last one") { client.value(of: Oven.temperature) == Float(count) }
            await client.close()
            await device.stop()
        }
    }

    @Test(arguments: ["no name", "", "-", "x\u{1B}[2J", String(repeating: "x", count: 63)])
    func aNameThatCannotBePublished(service: String) async throws {
        try await RunningSerialGateway.with(Self.tcp) { running in
            let device = try TestBoard.dial(try running.linePort, .oven(service: service))
            // It is listened to again later each time.
            for time in ["0.5", "1.0"] { try await running.wait(forPrefix: "rejected for \(time) seconds: the device") }
            #expect(!running.events.contains { $0.hasPrefix("appeared") })
            await device.stop()
            // The next one is heard at once.
            let other = try TestBoard.dial(try running.linePort, .oven())
            try await running.wait(for: "appeared oven/Kitchen")
            await other.stop()
        }
    }

    @Test
    func garbageCostsNothing() async throws {
        try await RunningSerialGateway.with(Self.tcp) { running in
            var random = SeededGenerator(seed: 3)
            let socket = try RawSocket.connect(to: try running.linePort)
            for _ in 0..<100 { try socket.write((0..<4096).map { _ in UInt8(truncatingIfNeeded: random.next()) }) }
            socket.closeOutput()
            let device = try TestBoard.dial(try running.linePort, .oven())
            try await exchange(running)
            await device.stop()
        }
    }

    @Test
    func aLineThatCannotBeOpened() async throws {
        for (line, text) in [
            (SerialLine.serial(path: "/etc/passwd"), "not a serial device"),
            (.pseudoTerminal(link: "/nonexistent/link"), "cannot create the link"),
            (.listen(host: "127.0.0.1", port: 65_536), "65536 is not a port"),
            (.dial(host: "127.0.0.1", port: -1), "-1 is not a port"),
        ] {
            let error = await #expect(throws: SerialGatewayError.self) { try await SerialGateway(line: line).run() }
            #expect(error?.description.contains(text) == true)
        }
    }
}
