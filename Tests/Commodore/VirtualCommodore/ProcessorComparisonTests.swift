import Foundation
import TestSupport
import Testing
import VirtualCommodore

/// Compares the processor with py65, an independent implementation, on random instructions: registers, writes, cycles.
struct ProcessorComparisonTests {
    private static let python = Repository.path(".build/py65/bin/python3")
    private static let script = Repository.path("Tests/Commodore/VirtualCommodore/py65/streams.py")
    private static let isPy65There = FileManager.default.isExecutableFile(atPath: python)

    /// More streams than the usual ones, to look for rare differences: `PY65_STREAMS=200 swift test --filter …`.
    private static let streamCount = Int(ProcessInfo.processInfo.environment["PY65_STREAMS"] ?? "") ?? 16
    private static let stepCount = 3000

    @Test(.enabled(if: isPy65There, "py65 is not there: run Tests/install py65 (it needs Python 3 and PyPI)"))
    func everyInstructionBehavesAsOnPy65() async throws {
        var replay = Replay()
        // A few streams at a time, so that the text does not become large.
        for first in stride(from: 1, through: Self.streamCount, by: 8) {
            let count = min(8, Self.streamCount - first + 1)
            let text = try await ChildProcess.run(
                Self.python, [Self.script, "\(first)", "\(count)", "\(Self.stepCount)"])
            for line in text.utf8.split(separator: UInt8(ascii: "\n")) { try replay.take(line) }
        }
        #expect(replay.instructionCount == Self.streamCount * Self.stepCount)
        #expect(replay.memoryCount == Self.streamCount)
        #expect(replay.opcodes.count == 151)
    }
}

/// Runs our processor on the same input as py65, and compares.
private struct Replay {
    var instructionCount = 0
    var memoryCount = 0
    var opcodes: Set<UInt8> = []
    private var machine = FlatMachine()
    private var event = UInt8(ascii: "S")
    private var seed = 0

    mutating func take(_ line: Substring.UTF8View.SubSequence) throws {
        let fields = line.split(separator: UInt8(ascii: " "))
        func number(_ index: Int) -> Int { Int(Substring(fields[index]), radix: 16) ?? -1 }
        switch fields[0].first {
        case UInt8(ascii: "T"):
            seed = number(1)
            fill()
        case UInt8(ascii: "R"):
            machine.processor.programCounter = UInt16(number(1))
            machine.processor.a = UInt8(number(2))
            machine.processor.x = UInt8(number(3))
            machine.processor.y = UInt8(number(4))
            machine.processor.stackPointer = UInt8(number(5))
            machine.processor.status = UInt8(number(6))
        case UInt8(ascii: "P"): machine[UInt16(number(1))] = UInt8(number(2))
        case UInt8(ascii: "I"): event = UInt8(ascii: "I")
        case UInt8(ascii: "N"): event = UInt8(ascii: "N")
        case UInt8(ascii: "S"): try compareStep(fields, number)
        default:
            memoryCount += 1
            let checksum = (0...UInt16.max).reduce(UInt32(0)) { $0 &* 31 &+ UInt32(machine[$1]) }
            #expect(Int(checksum) == number(1), "memory at the end of stream \(seed)")
        }
    }

    private mutating func compareStep(_ fields: [Substring.UTF8View.SubSequence], _ number: (Int) -> Int) throws {
        let before = machine.processor
        let opcode = machine[before.programCounter]
        var cycles = 7
        switch event {
        case UInt8(ascii: "I"): cycles = machine.interrupt() ? 7 : 0
        case UInt8(ascii: "N"): machine.nonMaskableInterrupt()
        default:
            cycles = try #require(machine.step(), "opcode \(opcode) at \(before.programCounter) is documented")
            opcodes.insert(opcode)
        }
        event = UInt8(ascii: "S")
        instructionCount += 1
        let after = machine.processor
        let state = [
            Int(after.programCounter), Int(after.a), Int(after.x), Int(after.y), Int(after.stackPointer),
            Int(after.status & 0xCF), cycles,
        ]
        let expected = [number(1), number(2), number(3), number(4), number(5), number(6) & 0xCF, number(7)]
        var differences = state == expected ? [] : ["PC A X Y SP P cycles \(state), py65 has \(expected)"]
        for write in fields.dropFirst(8) {
            let parts = write.split(separator: UInt8(ascii: "=")).map { Int(Substring($0), radix: 16) ?? -1 }
            if Int(machine[UInt16(parts[0])]) != parts[1] { differences.append("\(Substring(write)) was not written") }
        }
        guard differences.isEmpty else {
            throw TestSupportError(
                "stream \(seed), instruction \(instructionCount), opcode \(opcode) after \(before): \(differences)")
        }
    }

    /// The same bytes as in the script.
    private func fill() {
        var state = UInt32(seed)
        for address in 0...UInt16.max {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            machine[address] = UInt8(state >> 24)
        }
    }
}
