import TestSupport
import Testing

@testable import VirtualCommodore

/// The same program on a cartridge: what is its own is the line of an ACIA, and a machine without ROMs.
@Suite(.enabled(if: CommodoreProgram.isAvailable))
struct CartridgeTests {
    private let memoryWrite: UInt8 = 19
    private let memoryRead: UInt8 = 20
    private let memory: UInt8 = 21

    private func connected() async throws -> CartridgeMachine {
        let machine = CartridgeMachine(try await CommodoreProgram.crt)
        try machine.connect()
        return machine
    }

    @Test
    func itConnectsAndTakesAndTellsValues() async throws {
        let machine = try await connected()
        machine.set(1, [2])
        try machine.run("the border") { $0[0xD020] & 15 == 2 }
        let told = machine.output.values.count
        try machine.run("the clock") { $0.output.values.count >= told + 3 }
        let clock = machine.output.values.filter { $0.element == 18 }.map { Int($0.bytes[0]) | Int($0.bytes[1]) << 8 }
        #expect(zip(clock, clock.dropFirst()).allSatisfy { $1 - $0 == 60 })
    }

    @Test
    func itsCharactersAreTheVirtualMachines() async throws {
        let rom = try await CommodoreProgram.crt.dropFirst(64 + 16)
        #expect(rom.count == 8192)
        #expect(rom.dropFirst(0x1000).prefix(0x800).elementsEqual(CharacterGenerator.bytes.dropFirst(0x800)))
    }

    /// At the line's speed both ways at once, where an interrupt comes at any moment of another one.
    @Test(arguments: 1...(Depth.isAll ? 6 : 2))
    func noByteIsLostOrDoubled(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let machine = try await connected()
        var blocks: [[UInt8]] = []
        func write() {
            let place: [UInt8] = [0, blocks.count % 2 == 0 ? 0x0D : 0x0E]
            let count = Int.random(in: 1...248, using: &generator)
            blocks.append(place + (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
            machine.set(memoryWrite, blocks[blocks.count - 1])
        }
        write()
        for number in 0..<40 {
            let block = blocks[number]
            machine.set(memoryRead, Array(block.prefix(2)) + [UInt8(block.count - 2)])
            write()
            let answered = machine.output.values.filter { $0.element == memory }.count
            try machine.run("block \(number)") { $0.output.values.filter { $0.element == memory }.count > answered }
        }
        let answers = machine.output.values.filter { $0.element == memory }.map(\.bytes)
        #expect(answers == Array(blocks.prefix(40)))
        #expect(!machine.hasOverrun)
    }

    @Test
    func itsTextsScroll() async throws {
        let machine = try await connected()
        for number in 1...15 { machine.set(3, [0x30 + UInt8(number / 10), 0x30 + UInt8(number % 10)]) }
        machine.set(1, [5])
        try machine.run("the border") { $0[0xD020] & 15 == 5 }
        // Twelve rows from the eleventh on; a line end waits until something follows.
        let numbers = (0..<12).map { row -> Int in
            let place = UInt16(0x0400 + (11 + row) * 40)
            return Int(machine[place] & 15) * 10 + Int(machine[place + 1] & 15)
        }
        #expect(numbers == Array(4...15))
    }

    /// Texts that scroll take longer to show than to arrive. An adapter may send some bytes after RTS has gone off.
    @Test
    func itPausesALineThatIsTooFastForIt() async throws {
        let machine = try await connected()
        machine.lateByteCount = 64
        let hangUps = machine.hangUpCount
        for _ in 0..<10 { machine.set(3, [UInt8](repeating: 0x0D, count: 250)) }
        machine.set(1, [5])
        try machine.run("the border", seconds: 60) { $0[0xD020] & 15 == 5 }
        #expect(machine.pauseCount > 0 && machine.unsentByteCount == 0)
        #expect(!machine.hasOverrun && machine.hangUpCount == hangUps)
    }

    /// An emulator notices then that the other end has gone, and connects again.
    @Test
    func itHangsUpWhenTheOtherEndIsGone() async throws {
        let machine = try await connected()
        let hangUps = machine.hangUpCount
        machine.send(4, Array("Disconnected".utf8))
        try machine.run("a new call") { $0.hangUpCount > hangUps }
        try machine.connect()
    }
}
