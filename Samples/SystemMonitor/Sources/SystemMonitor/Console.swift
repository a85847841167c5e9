import Foundation

/// Standard output, a line at a time, so that a log file or journal shows each when it happens.
enum Console {
    static func print(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
}
