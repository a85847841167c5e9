import PETSCII
import TestSupport
import VirtualCommodore

/// A virtual Commodore that runs the program, with the test as its modem. Bytes are transferred at 1200 baud in emulated
/// time.
final class Bench {
    typealias Command = ProgramOutput.Command

    let commodore: Commodore64
    private(set) var output = ProgramOutput()
    var values: [ProgramOutput.Value] { output.values }
    /// Whether each value is answered with an OK at once.
    var answersValues = true

    init(_ standard: VideoStandard = .pal) async throws {
        commodore = Commodore64(standard: standard, line: SerialLine(baud: 1200))
        try commodore.start(Program(prg: try await CommodoreProgram.prg))
    }

    /// A machine whose program is connected and has sent its initial values.
    static func connected(_ standard: VideoStandard = .pal) async throws -> Bench {
        let bench = try await Bench(standard)
        try bench.connect()
        return bench
    }

    /// Plays the modem until the program is connected.
    func connect() throws {
        try expect(Command(code: 4, bytes: []))
        send(1)
        try expect(Command(code: 3, bytes: []))
        send(1)
        try expect(Command(code: 5, bytes: Array("elemental:commodore".utf8)))
        send(4, "Connected")
        let count = values.count
        try run("the state of things") { $0.values.count >= count + 3 }
    }

    // MARK: - To the program

    func send(_ code: UInt8, _ bytes: [UInt8] = []) { commodore.line.send([code, UInt8(bytes.count)] + bytes) }
    func send(_ code: UInt8, _ text: String) { send(code, Array(text.utf8)) }

    static func envelope(_ element: UInt8, _ value: [UInt8]) -> [UInt8] {
        [element, UInt8(value.count), 0, 0, 0] + value
    }

    func set(_ element: UInt8, _ value: [UInt8]) { send(3, Self.envelope(element, value)) }
    func set(_ element: UInt8, word: UInt16) { set(element, [UInt8(word & 0xFF), UInt8(word >> 8)]) }
    func print(_ text: String) { set(3, [UInt8](petscii: text, in: .lowerCase)) }

    // MARK: - From the program

    /// Runs until a condition holds. What is thrown if it does not, or if the machine stops, has the screen.
    func run(_ what: String, frames: Int = 3000, until condition: (Bench) throws -> Bool) throws {
        let isMet = try commodore.run(frames: frames) { _ in
            try collect()
            return try condition(self)
        }
        guard isMet else {
            throw TestSupportError(
                "\(what) did not come; \(commodore.stopReason.map { "\($0)" } ?? "still running")\n"
                    + commodore.screenText)
        }
    }

    func run(frames: Int) throws {
        for _ in 0..<frames {
            commodore.runFrame()
            try collect()
        }
    }

    /// Waits for the next command, which has to be the given one; values are set aside.
    func expect(_ command: Command) throws {
        try run("command \(command)") { _ in !commands.isEmpty }
        try output.expect(command)
    }

    func next(_ element: UInt8) throws -> [UInt8] {
        let count = values.count
        try run("element \(element)") { $0.values[count...].contains { $0.element == element } }
        return values[count...].first { $0.element == element }?.bytes ?? []
    }

    /// Runs until everything is transferred and the program has had time to handle it.
    func settle() throws {
        try run("the end of what was sent") { $0.commodore.line.pendingByteCount == 0 }
        try run(frames: 30)
    }

    var commands: [Command] { output.commands }

    private func collect() throws {
        let count = values.count
        try output.receive(commodore.line.receive())
        if answersValues { for _ in count..<values.count { send(1) } }
    }

    // MARK: - What the program shows

    func row(_ index: Int) -> String { commodore.screenRows[index] }

    /// The rows in which texts are printed, without empty ones at the end.
    var window: [String] {
        let rows = commodore.screenRows[11..<23]
        return Array(rows.prefix((rows.lastIndex { !$0.isEmpty } ?? 10) - 10))
    }

    var state: String { String(row(1).dropFirst(5).prefix { $0 != " " }) }
}
