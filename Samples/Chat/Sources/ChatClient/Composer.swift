import Foundation
import Synchronization

/// The last row of a terminal, in which a line is typed while others appear above it.
///
/// While it is locked RETURN does nothing, and what was typed stays.
final class Composer: Sendable {
    enum Key: Sendable {
        case line(String)
        case changed
        case end
    }

    private struct State {
        var text = ""
        var lock: String?
        var status = ""
        var partial: [UInt8] = []
        var isEscape = false
    }

    private let state = Mutex(State())
    private let before: termios

    /// - Returns: `nil` if standard input or output is no terminal.
    init?() {
        var settings = termios()
        guard isatty(0) == 1, isatty(1) == 1, tcgetattr(0, &settings) == 0 else { return nil }
        before = settings
        // Signals stay: Ctrl-C ends the program.
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(0, TCSANOW, &settings) == 0 else { return nil }
        draw()
    }

    func end() {
        var settings = before
        tcsetattr(0, TCSANOW, &settings)
        write("\r\u{1B}[K")
    }

    /// Locks it with a reason, or unlocks it.
    func lock(_ reason: String?) {
        state.withLock { $0.lock = reason }
        draw()
    }

    /// Shows a word before the text, such as who is typing.
    func show(status: String) {
        state.withLock { $0.status = status }
        draw()
    }

    func print(_ line: String) {
        write("\r\u{1B}[K\(line)\n")
        draw()
    }

    /// Takes bytes that were typed.
    func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        let keys = state.withLock { state in bytes.compactMap { Self.take($0, &state) } }
        draw()
        return keys
    }

    private static func take(_ byte: UInt8, _ state: inout State) -> Key? {
        if state.isEscape {
            // Arrow keys and their like: ESC [ … up to a letter.
            state.isEscape = !(0x40...0x7E ~= byte && byte != UInt8(ascii: "[") && byte != UInt8(ascii: "O"))
            return nil
        }
        switch byte {
        case 0x1B: state.isEscape = true
        case 0x04 where state.text.isEmpty: return .end
        case 0x08, 0x7F:
            if !state.text.isEmpty { state.text.removeLast() }
        case 0x15: state.text = ""
        case 0x0A, 0x0D:
            guard state.lock == nil, !state.text.isEmpty else { return nil }
            defer { state.text = "" }
            return .line(state.text)
        case 0x20...:
            state.partial.append(byte)
            guard let text = String(validating: state.partial, as: UTF8.self) else {
                if state.partial.count >= 4 { state.partial = [] }
                return nil
            }
            state.partial = []
            guard state.text.utf8.count + text.utf8.count <= 1000 else { return nil }
            state.text += text
            return .changed
        default: break
        }
        return nil
    }

    private func draw() {
        var size = winsize()
        let width = ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 10 ? Int(size.ws_col) : 80
        let row = state.withLock { state in
            let sign = state.lock.map { "[\($0)] " } ?? (state.status.isEmpty ? "> " : "(\(state.status)) > ")
            // Of a longer text the end is shown.
            return sign + state.text.suffix(max(0, width - sign.count - 1))
        }
        write("\r\u{1B}[K\(row)")
    }

    private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
