import Elemental
import PETSCII

/// The keyboard of a virtual machine as other threads see it: how many keys wait, and which characters have a key.
struct VirtualKeyboard {
    static let capacity = 1024
    /// The maximum number of characters without a key that a refusal names.
    private static let namedCount = 3

    /// Whether a program runs that can receive keys.
    var isConnected = false
    /// The character set that the screen showed last: capitals and graphics, or small letters too.
    var characterSet = CommodoreCharacterSet.graphics
    /// The number of keys that the machine had not scanned at the last check.
    var waiting = 0
    /// The number of keys on their way to the machine.
    var submitted = 0

    var room: Int { isConnected ? max(Self.capacity - waiting - submitted, 0) : 0 }

    /// - Throws: a refusal if one of the characters has no key, or not all of them have room.
    func keys(of text: String, replacingOthers isLenient: Bool) throws(ValueRefusal) -> [UInt8] {
        guard isConnected else { throw ValueRefusal("no program is running on the machine") }
        // Refuses a text that would not fit even into an empty buffer, before its characters are looked at: each takes
        // at least one byte and one key. In a shorter text, a character without a key is reported first, however many
        // keys wait.
        let most = 4 * Self.capacity
        guard isLenient || text.unicodeScalars.prefix(most + 1).count <= most else { throw tooMany(nil) }
        let keys: [UInt8]
        if isLenient {
            keys = [UInt8](petscii: text, in: characterSet)
        } else {
            let found = text.map { ($0, key(of: $0)) }
            let missing = found.filter { $0.1 == nil }.map(\.0)
            guard missing.isEmpty else { throw Self.refusal(of: missing) }
            keys = found.compactMap(\.1)
        }
        guard keys.count <= room else { throw tooMany(keys.count) }
        return keys
    }

    private func key(of character: Character) -> UInt8? {
        if character.isNewline { return ControlCode.return.rawValue }
        if character == "\u{8}" || character == "\u{7F}" { return ControlCode.delete.rawValue }
        if let code = ScreenCode(character, in: characterSet) { return code.petscii }
        // The keys of small letters type capitals in the graphics set, which has no small letters.
        guard characterSet == .graphics, character.isASCII, let capital = character.uppercased().first else {
            return nil
        }
        return ScreenCode(capital, in: characterSet)?.petscii
    }

    private func tooMany(_ count: Int?) -> ValueRefusal {
        ValueRefusal(
            "\(count.map { "\($0)" } ?? "these") keys do not fit: \(Self.capacity) may wait to be typed, and there is "
                + "room for \(room)")
    }

    /// Names the characters by number and Unicode name only, because the characters themselves may be unsafe to show.
    private static func refusal(of missing: [Character]) -> ValueRefusal {
        var names: [String] = []
        for scalar in missing.compactMap({ $0.unicodeScalars.first }) {
            let digits = String(scalar.value, radix: 16, uppercase: true)
            let number = "U+" + String(repeating: "0", count: max(4 - digits.count, 0)) + digits
            let name = [number, scalar.properties.name].compactMap { $0 }.joined(separator: " ")
            if !names.contains(name) { names.append(name) }
            if names.count > namedCount { break }
        }
        let rest = names.count > namedCount ? " and others" : ""
        return ValueRefusal("the keyboard has no key for \(names.prefix(namedCount).joined(separator: ", "))\(rest)")
    }
}
