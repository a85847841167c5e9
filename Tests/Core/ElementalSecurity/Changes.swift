import TestSupport

/// Calls `body` with copies of `bytes` in each of which one to four bytes are replaced, removed or inserted, the same ones
/// in every run.
///
/// - Parameter replacements: what is written in place of a byte, or inserted.
func changes(
    of bytes: some Sequence<UInt8>, to replacements: some Collection<UInt8>, seed: UInt64, count: Int = 5000,
    _ body: ([UInt8]) -> Void
) {
    var generator = SeededGenerator(seed: seed)
    let bytes = Array(bytes)
    for _ in 0..<count {
        var changed = bytes
        for _ in 0..<generator.number(1...4) {
            let index = generator.number(0...changed.count - 1)
            switch generator.number(0...2) {
            case 0: changed[index] = replacements.randomElement(using: &generator) ?? 0
            case 1: changed.remove(at: index)
            default: changed.insert(replacements.randomElement(using: &generator) ?? 0, at: index)
            }
        }
        body(changed)
    }
}

extension SeededGenerator {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 8) } }
}
