#if !LIBFUZZER
import Foundation

/// Stands in for libFuzzer where the toolchain lacks it: changes the seeds at random, without a look at what code they
/// reach. The input under way lies in a file, so that it is there when the process ends by it.
struct SeededFuzzer {
    private let seeds: [[UInt8]]
    private let current: URL
    private static let seed: UInt64 = 1
    private static let maximumByteCount = 4096

    init(seeds folder: String, current: String) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        seeds = try files.map { Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)"))) }
        self.current = URL(fileURLWithPath: current)
    }

    func run(_ target: any FuzzTarget.Type, seconds: Double) throws {
        var random = SeededGenerator(state: Self.seed)
        let end = Date(timeIntervalSinceNow: seconds)
        var count = 0
        while Date() < end {
            let input = change(seeds.randomElement(using: &random) ?? [], &random)
            try Data(input).write(to: current)
            // A copy of exactly these bytes, so that reading past them is found by the address sanitizer.
            input.withUnsafeBytes { target.run($0) }
            count += 1
        }
        try FileManager.default.removeItem(at: current)
        print("stat::number_of_executed_units: \(count)")
    }

    private func change(_ seed: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var input = seed
        for _ in 0..<Int.random(in: 1...16, using: &random) {
            let position = Int.random(in: 0...input.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where position < input.count: input[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1 where position < input.count:
                input[position] = [0, 1, 0x7F, 0x80, 0xFA, 0xFC, 0xFF].randomElement(using: &random) ?? 0
            case 2: input.insert(.random(in: 0...255, using: &random), at: position)
            case 3 where position < input.count:
                input.removeSubrange(position..<Int.random(in: position...input.count, using: &random))
            case 4: input.insert(contentsOf: seeds.randomElement(using: &random) ?? [], at: position)
            case 5: input += input[position...]
            default: break
            }
        }
        return Array(input.prefix(Self.maximumByteCount))
    }
}

/// SplitMix64.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
#endif
