import Foundation

/// What was sent when, a line each.
struct SendLog: Sendable {
    private let file: FileHandle?

    /// - Parameter path: the file to write, anew; `nil` for none.
    init(file path: String?) throws {
        guard let path else {
            file = nil
            return
        }
        try Data().write(to: URL(filePath: path))
        file = try FileHandle(forWritingTo: URL(filePath: path))
    }

    func write(_ what: String, at time: UInt64 = now) { file?.write(Data("\(time) \(what)\n".utf8)) }

    /// Nanoseconds of CLOCK_MONOTONIC.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
