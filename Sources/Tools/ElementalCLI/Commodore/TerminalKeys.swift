import PETSCII
import VirtualCommodore

/// Translates a terminal's bytes into keys of a Commodore and switches of a joystick.
struct TerminalKeys {
    /// The port of the joystick that the cursor keys and TAB control; `nil` for none.
    private let joystick: Int?
    /// The beginning of a character or escape sequence whose rest has not arrived.
    private var rest: [UInt8] = []
    /// The closed switches with their remaining frames. A terminal reports that a key is pressed, and repeats this
    /// while it is held, but does not report the release.
    private var held: [(switches: Joystick, frames: Int)] = []
    private var stopFrames = 0

    /// How many frames a key counts as held: longer than a terminal's key repeat, mostly 30 ms, but not so long that the
    /// release feels late.
    private static let holdTime = 8
    private static let longestSequence = 16

    init(joystick: Int?) { self.joystick = joystick }

    /// Counts a frame and releases the keys that have been held long enough.
    mutating func advance(_ machine: Commodore64) {
        if stopFrames > 0 {
            stopFrames -= 1
            machine.isStopKeyDown = stopFrames > 0
        }
        guard !held.isEmpty else { return }
        for index in held.indices { held[index].frames -= 1 }
        held.removeAll { $0.frames <= 0 }
        move(machine)
    }

    /// Handles bytes from the terminal, in pieces of any length.
    mutating func take(_ bytes: some Sequence<UInt8>, _ machine: Commodore64) {
        rest += bytes
        var position = 0
        while position < rest.count {
            let count = takeKey(at: position, machine)
            guard count > 0 else { break }
            position += count
        }
        rest.removeFirst(position)
    }

    /// - Returns: the number of bytes of the key, or 0 if some have not arrived yet.
    private mutating func takeKey(at position: Int, _ machine: Commodore64) -> Int {
        let byte = rest[position]
        switch byte {
        case 0x1B: return takeEscape(at: position, machine)
        case 0x0D, 0x0A: machine.type("\n")
        case 0x08, 0x7F: machine.press(.delete)
        case 0x09: press(.fire, machine)
        case 0x0C: machine.press(.clear)
        case 0..<0x20: break
        default:
            let count = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
            guard position + count <= rest.count else { return 0 }
            machine.type(String(decoding: rest[position..<position + count], as: UTF8.self))
            return count
        }
        return 1
    }

    /// Handles a sequence such as `ESC [ 1 5 ~`, or the ESC key alone.
    private mutating func takeEscape(at position: Int, _ machine: Commodore64) -> Int {
        guard position + 1 < rest.count, [UInt8(ascii: "["), UInt8(ascii: "O")].contains(rest[position + 1]) else {
            stopFrames = Self.holdTime
            machine.isStopKeyDown = true
            machine.press(.stop)
            return 1
        }
        let parameters = rest[(position + 2)...].prefix(Self.longestSequence).prefix { 0x20...0x3F ~= $0 }
        guard parameters.endIndex < rest.count else {
            return parameters.count < Self.longestSequence ? 0 : 2 + parameters.count
        }
        let name = String(decoding: parameters, as: UTF8.self)
        let final = Character(Unicode.Scalar(rest[parameters.endIndex]))
        press(name, final, machine)
        return parameters.count + 3
    }

    private mutating func press(_ parameters: String, _ final: Character, _ machine: Commodore64) {
        if let joystick = Self.directions[final], self.joystick != nil {
            press(joystick, machine)
        } else if let key = final == "~" ? Self.numbered[parameters] : Self.lettered[final] {
            // SHIFT with HOME, as xterm encodes it.
            machine.press(key == .home && parameters.hasSuffix(";2") ? .clear : key)
        }
    }

    private static let directions: [Character: Joystick] = ["A": .up, "B": .down, "C": .right, "D": .left]
    private static let lettered: [Character: ControlCode] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "P": .f1, "Q": .f2, "R": .f3, "S": .f4,
    ]
    private static let numbered: [String: ControlCode] = [
        "1": .home, "1;2": .clear, "2": .insert, "3": .delete, "7": .home, "11": .f1, "12": .f2, "13": .f3, "14": .f4,
        "15": .f5, "17": .f6, "18": .f7, "19": .f8,
    ]

    private mutating func press(_ switches: Joystick, _ machine: Commodore64) {
        guard joystick != nil else { return }
        held.removeAll { $0.switches == switches }
        held.append((switches, Self.holdTime))
        move(machine)
    }

    private func move(_ machine: Commodore64) {
        let switches = held.reduce(into: Joystick()) { $0.formUnion($1.switches) }
        if joystick == 1 { machine.joystick1 = switches } else { machine.joystick2 = switches }
    }
}
