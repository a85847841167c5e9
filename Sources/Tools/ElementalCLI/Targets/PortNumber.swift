/// The number of a port as it is typed.
enum PortNumber {
    /// - Parameter allowed: the numbers that are ports here.
    /// - Returns: `nil` for a number that is none of them, and for everything but digits: no sign, no other script's.
    static func parse(_ text: Substring, allowed: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(text) else { return nil }
        return allowed.contains(port) ? port : nil
    }
}
