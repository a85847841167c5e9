/// The lines that a child wrote to one descriptor, and how far they have been consumed.
struct LineBuffer {
    private(set) var lines: [String] = []
    private var rest: [UInt8] = []
    private var next = 0
    private(set) var isAtEnd = false

    mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            if byte == 0x0A {
                lines.append(String(decoding: rest, as: UTF8.self))
                rest = []
            } else {
                rest.append(byte)
            }
        }
    }

    mutating func end() {
        if !rest.isEmpty { append([0x0A]) }
        isAtEnd = true
    }

    /// The first unconsumed line that matches; it and those before it are then consumed.
    mutating func take(where isWanted: (String) -> Bool) -> String? {
        guard let index = lines[next...].firstIndex(where: isWanted) else { return nil }
        next = index + 1
        return lines[index]
    }
}
