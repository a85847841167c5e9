import Elemental
import Foundation
import NIOCore
import PETSCII
import Support
import TestSupport
import Testing
import VirtualCommodore

@testable import CommodoreGateway

/// The screen, keyboard and joysticks of a virtual machine, for clients.
struct VirtualPanelTests {
    /// A program at $C000: it makes the border green and prints each typed key.
    private static let echo: [UInt8] = [
        0xA9, 0x05, 0x8D, 0x20, 0xD0, 0x20, 0xE4, 0xFF, 0xF0, 0xFB, 0x20, 0xD2, 0xFF, 0x4C, 0x05, 0xC0,
    ]
    /// A program at $C000: the joysticks in ports 1 and 2 become the colours of background and border.
    private static let colours: [UInt8] = [
        0x78, 0xA9, 0xFF, 0x8D, 0x00, 0xDC,  // SEI; no column of the keyboard
        0xAD, 0x01, 0xDC, 0x49, 0xFF, 0x8D, 0x21, 0xD0,  // $DC01 to $D021
        0xAD, 0x00, 0xDC, 0x49, 0xFF, 0x8D, 0x20, 0xD0, 0x4C, 0x06, 0xC0,  // $DC00 to $D020
    ]
    /// A program at $C000 without interrupts: it takes no keys.
    private static let deaf: [UInt8] = [0x78, 0x4C, 0x01, 0xC0]

    private func withMachine(
        _ program: [UInt8], _ body: (RunningGateway, VirtualMachine) async throws -> Void
    ) async throws {
        try await withGateway(.virtual(try Program(program, at: 0xC000), standard: .pal)) { running in
            try await body(running, try #require(running.gateway.virtualMachine))
        }
    }

    private func png(_ machine: VirtualMachine) async throws -> Data {
        Data(try await machine.with { $0.picture().png() })
    }

    /// Waits until the machine has run for a while.
    private func pass(_ machine: VirtualMachine, seconds: Double = 1) async throws {
        let end = try await machine.with { $0.cycle + UInt64(seconds * Double($0.standard.cyclesPerSecond)) }
        try await eventually("the time") { try await machine.with { $0.cycle } > end }
    }

    // MARK: - Screen

    @Test
    func theScreenIsWhatTheMachineShows() async throws {
        try await withMachine(Self.echo) { running, machine in
            let client = try await running.client()
            try await eventually("green") { try await machine.with { $0.borderColour } == .green }
            try await eventually("the picture") {
                client.value(of: CommodoreElements.screen) == (try await png(machine))
            }
            let empty: Data = try #require(client.value(of: CommodoreElements.screen))
            // The header says 384 by 272.
            #expect(
                empty.starts(with: [0x89, 0x50, 0x4E, 0x47]) && empty[16..<24] == Data([0, 0, 1, 0x80, 0, 0, 1, 0x10]))
            try client.send("hello,\nWorld?", to: CommodoreElements.keys)
            try await eventually("the text") { try await machine.with { $0.screenRows[1] } == "WORLD?" }
            #expect(try await machine.with { $0.screenRows[0] } == "HELLO,")
            try await eventually("the new picture") {
                client.value(of: CommodoreElements.screen) == (try await png(machine))
            }
            #expect(client.value(of: CommodoreElements.screen) != empty)
            try client.send("\u{8}\u{7F}!", to: CommodoreElements.keys)
            try await eventually("the end deleted") { try await machine.with { $0.screenRows[1] } == "WORL!" }
            await client.close()
        }
    }

    @Test
    func nothingIsRenderedWhileNobodyIsConnected() async throws {
        try await withMachine(Self.echo) { running, machine in
            let gateway = running.gateway
            try await pass(machine)
            #expect(await gateway.renderedPictureCount == 0)
            let client = try await running.client()
            let pictures = Transcript<Data>()
            client.onValue(of: CommodoreElements.screen) { pictures.add($0) }
            try await eventually("a picture") { client.value(of: CommodoreElements.screen) == (try await png(machine)) }
            // One that does not change is not sent again.
            let count = await gateway.renderedPictureCount
            try await eventually("more pictures") { await gateway.renderedPictureCount > count + 3 }
            #expect(Set(pictures.all).count == pictures.all.count)
            await client.close()
            try await eventually("nobody") { gateway.service.devices.isEmpty }
            let before = await gateway.renderedPictureCount
            try machine.type("news")
            try await eventually("the news") { try await machine.with { $0.screenRows[0] } == "NEWS" }
            try await pass(machine)
            #expect(await gateway.renderedPictureCount == before)
            // Who comes then gets the newest picture, and no older one before it.
            let known = pictures.all.count
            try await client.reconnect()
            try await eventually("a picture") { pictures.all.count > known }
            #expect(pictures.all[known] == (try await png(machine)))
            await client.close()
        }
    }

    @Test
    func aChangingScreenComesAtMostTenTimesASecond() async throws {
        // INC $D020; JMP $C000
        let program = try Program([0xEE, 0x20, 0xD0, 0x4C, 0x00, 0xC0], at: 0xC000)
        let eventLoop = GatewayConfiguration().service.eventLoopGroup.next()
        try await withGateway(.virtual(program, standard: .pal)) {
            $0.service.eventLoopGroup = eventLoop
        } _: { running in
            let client = try await running.client()
            let pictures = Transcript<Data>()
            client.onValue(of: CommodoreElements.screen) { pictures.add($0) }
            // They come on the same event loop, at less than the interval: at least one comes between two pictures.
            let ticks = Locked(0)
            let ticking = eventLoop.scheduleRepeatedTask(
                initialDelay: .zero, delay: ScreenFeed.interval - .milliseconds(10)
            ) { _ in ticks.withLock { $0 += 1 } }
            try await pictures.wait(for: 12)
            ticking.cancel()
            #expect(ticks.withLock { $0 } >= 10)
            await client.close()
        }
    }

    // MARK: - Keyboard

    @Test
    func whatHasNoKeyOrNoRoomIsRefusedWhole() async throws {
        try await withMachine(Self.deaf) { running, machine in
            let client = try await running.client()
            let refusals = Transcript<String>()
            client.onRefusal { element, refusal, _ in refusals.add("\(element.name): \(refusal)") }
            func refusal(of text: String) async throws -> String {
                let known = refusals.all.count
                try client.send(text, to: CommodoreElements.keys)
                // A long text travels in pieces, which a ping overtakes.
                try await eventually("the refusal") { refusals.all.count == known + 1 }
                return refusals.all[known]
            }
            #expect(
                try await refusal(of: "Grüße, {x}~")
                    == "keys: the keyboard has no key for U+00FC LATIN SMALL LETTER U WITH DIAERESIS, "
                    + "U+00DF LATIN SMALL LETTER SHARP S, U+007B LEFT CURLY BRACKET and others")
            #expect(try await refusal(of: "\u{1B}[2J").contains("U+001B"))
            let capacity = VirtualMachine.keyCapacity
            #expect(try await refusal(of: String(repeating: "x", count: capacity + 1)).contains("do not fit"))
            #expect(try await refusal(of: String(repeating: "x", count: 1_000_000)).contains("do not fit"))
            #expect(machine.roomForKeys == capacity)
            // Sent at once, so that the machine has not looked at the first when the last comes.
            for _ in 0..<capacity / 64 {
                try client.send(String(repeating: "x", count: 64), to: CommodoreElements.keys)
            }
            _ = try await client.ping(timeout: Patience.wait)
            #expect(refusals.all.count == 4)
            #expect(try await refusal(of: "y").contains("room for 0"))
            #expect(try await machine.with { $0.untypedKeyCount } == capacity)
            #expect(machine.roomForKeys == 0)
            #expect(throws: ValueRefusal.self) { try machine.type("y") }
            await client.close()
        }
    }

    @Test
    func keysFollowTheCharacterSet() throws {
        var keyboard = VirtualKeyboard(isConnected: true, waiting: VirtualKeyboard.capacity)
        #expect { try keyboard.keys(of: "\u{20AC}", replacingOthers: false) } throws: {
            "\($0)".contains("U+20AC EURO SIGN")
        }
        keyboard = VirtualKeyboard()
        #expect(throws: ValueRefusal("no program is running on the machine")) {
            try keyboard.keys(of: "a", replacingOthers: false)
        }
        keyboard.isConnected = true
        #expect(try keyboard.keys(of: "aA♥\n", replacingOthers: false) == [0x41, 0x41, 0xD3, 0x0D])
        #expect(try keyboard.keys(of: "é…", replacingOthers: true) == [0x45, 0x2E, 0x2E, 0x2E])
        keyboard.characterSet = .lowerCase
        #expect(try keyboard.keys(of: "aA✓\r\n", replacingOthers: false) == [0x41, 0xC1, 0xBA, 0x0D])
        #expect(throws: ValueRefusal.self) { try keyboard.keys(of: "♥é", replacingOthers: false) }
        keyboard.submitted = 1000
        keyboard.waiting = 20
        #expect(keyboard.room == 4)
        #expect(try keyboard.keys(of: "abcd", replacingOthers: false).count == 4)
        #expect(throws: ValueRefusal.self) { try keyboard.keys(of: "abcde", replacingOthers: false) }
    }

    // MARK: - Joysticks

    @Test
    func aClientsJoystickMovesTheMachinesAndIsReleasedWhenItLeaves() async throws {
        try await withMachine(Self.colours) { running, machine in
            let (first, second) = (try await running.client("first"), try await running.client("second"))
            let sticks = CommodoreElements.virtualJoysticks
            func ports() async throws -> [UInt8] {
                try await machine.with { [$0.backgroundColour, $0.borderColour].map(\.rawValue) }
            }
            try await eventually("the middle") { try await ports() == [0, 0] }
            try await eventually("it is told") { sticks.allSatisfy { second.value(of: $0) == 0 } }
            try first.send(5, to: sticks[1])
            try await eventually("up and left") { try await ports() == [0, 5] }
            try await eventually("it is told") { second.value(of: sticks[1]) == 5 && first.value(of: sticks[1]) == 5 }
            // Fire has no place in a colour.
            try second.send(5 | 16, to: sticks[1])
            try second.send(2, to: sticks[0])
            try await eventually("fire") {
                try await machine.with { ($0.joystick1, $0.joystick2) == (.down, [.up, .left, .fire]) }
            }
            try await eventually("it is told") { first.value(of: sticks[1]) == 21 && first.value(of: sticks[0]) == 2 }
            await first.close()
            try await eventually("the first's switches") { second.value(of: sticks[1]) == 16 }
            #expect(second.value(of: sticks[0]) == 2)
            await second.close()
            try await eventually("all switches") {
                try await machine.with { $0.joystick1.isEmpty && $0.joystick2.isEmpty }
            }
            try await eventually("the middle") { try await ports() == [0, 0] }
        }
    }

    @Test
    func aSwitchBelongsToWhoClosedIt() {
        var joystick = HeldJoystick<String>()
        joystick.set(1, by: "a")
        // Who sends the whole value did not press what was pressed before.
        joystick.set(1 | 16, by: "b")
        #expect(joystick.release("b") && joystick.switches == 1)
        joystick.set(0, by: "c")
        joystick.set(1, by: "c")
        // It was opened in between.
        #expect(!joystick.release("a") && joystick.switches == 1)
        joystick.note(0)
        #expect(!joystick.release("c") && joystick.moves == 5)
    }

    @Test(.enabled(if: CommodoreProgram.isAvailable))
    func aProgramsReportThatIsLateUndoesNothing() async throws {
        let program = try Program(prg: try await CommodoreProgram.prg)
        try await withGateway(.virtual(program, standard: .pal)) { running in
            let machine = try #require(running.gateway.virtualMachine)
            let (player, watcher) = (try await running.client("player"), try await running.client("watcher"))
            try await eventually("the program") { watcher.value(of: CommodoreElements.program) == "commodore" }
            let stick = CommodoreElements.virtualJoysticks[1]
            let reports = Transcript<UInt8>()
            running.gateway.onEvent { event in
                if case .told(let element, .uint8(let value)) = event, element.id == stick.id { reports.add(value) }
            }
            // The gateway's initial value and the program's.
            try await eventually("the program's") { reports.all.contains(0) || watcher.value(of: stick) == 0 }
            let told = Transcript<UInt8>()
            watcher.onValue(of: stick) { told.add($0) }
            // Each is reported while the next one is there already: a report takes 60 ms on the line.
            for round in 0..<20 {
                let value: UInt8 = round % 2 == 0 ? 17 : 0
                try player.send(value, to: stick)
                // On a slow machine the next one would replace it on its way.
                try await eventually("it is told") { told.all.last == value }
                try await pass(machine, seconds: 0.045)
            }
            try player.send(9, to: stick)
            try await eventually("it is told") { told.all.last == 9 }
            try await eventually("the program's") { reports.all.contains(9) }
            try await eventually("it shows it") { try await machine.with { $0.screenRows[8] }.hasSuffix("2 u--r-") }
            let changes = told.all.reduce(into: [UInt8]()) { if $0.last != $1 { $0.append($1) } }
            #expect(Array(changes.suffix(21)) == (0..<20).map { $0 % 2 == 0 ? 17 : 0 } + [9], "\(told.all)")
            #expect(changes.count <= 22, "\(told.all)")
            // Without a client it is as ever: the machine's own stick, by its program.
            await player.close()
            try await eventually("released") { told.all.last == 0 }
            try await eventually("the program's") { reports.all.last == 0 }
            _ = try await machine.with { $0.joystick2 = .down }
            try await eventually("down") { watcher.value(of: stick) == 2 }
            await watcher.close()
        }
    }

    // MARK: - Catalogues

    @Test
    func aRealLineHasNoneOfIt() async throws {
        try await withGateway(.loopback) { running in
            let client = try await running.client()
            let catalogue = try await client.catalogue()
            #expect(catalogue["screen"] == nil && catalogue["keys"] == nil)
            #expect(["joystick1", "joystick2"].allSatisfy { catalogue[$0]?.access == .read })
            await client.close()
        }
        try await withMachine(Self.deaf) { running, _ in
            let client = try await running.client()
            let catalogue = try await client.catalogue()
            #expect(catalogue["screen"]?.access == .read && catalogue["screen"]?.latest == true)
            #expect(catalogue["keys"]?.access == .write)
            #expect(["joystick1", "joystick2"].allSatisfy { catalogue[$0]?.access == .readWrite })
            await client.close()
        }
    }

    @Test
    func aProgramsOwnElementsStayItsOwn() throws {
        // joystick1, uint8, latest and told by the program; another named "screen".
        let stick = [UInt8](petscii: "joystick1", in: .lowerCase)
        let screen = [UInt8](petscii: "screen", in: .lowerCase)
        let bytes: [UInt8] = [1, 5, 2, 0b110, 9] + stick + [9, 2, 0b100, 6] + screen
        let virtual = CommodoreElements.own + CommodoreElements.ofVirtualMachine
        #expect(try CompactCatalogue.elements(in: bytes[...], besides: CommodoreElements.own).count == 2)
        #expect(throws: CompactCatalogue.Problem.self) {
            try CompactCatalogue.elements(in: bytes[...], besides: virtual)
        }
        let elements = try CompactCatalogue.elements(in: bytes.prefix(14), besides: virtual)
        #expect(CommodoreElements.catalogue(of: elements, virtual)[id: 5]?.access == .read)
    }
}
