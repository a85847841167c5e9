/// Computes error correction codewords over GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1.
struct ReedSolomon {
    /// The generator's coefficients, from the second highest power on; that of the highest is 1.
    private let divisor: [UInt8]

    /// - Parameter degree: the number of codewords for each block.
    init(degree: Int) {
        var coefficients = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in coefficients.indices {
                coefficients[index] = Self.product(coefficients[index], root)
                if index + 1 < degree { coefficients[index] ^= coefficients[index + 1] }
            }
            root = Self.product(root, 2)
        }
        divisor = coefficients
    }

    /// The codewords for a block of data.
    func remainder(_ data: some Sequence<UInt8>) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in result.indices { result[index] ^= Self.product(divisor[index], factor) }
        }
        return result
    }

    private static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        a == 0 || b == 0 ? 0 : powers[logarithms[Int(a)] + logarithms[Int(b)]]
    }

    /// The powers of 2, twice, so that the sum of two logarithms is a valid index.
    private static let powers: [UInt8] = {
        var power = 1
        let once = (0..<255).map { _ in
            defer { power = power << 1 ^ (power >> 7) * 0x11D }
            return UInt8(power)
        }
        return once + once
    }()

    /// The logarithm to base 2 of each number but 0.
    private static let logarithms: [Int] = {
        var logarithms = [Int](repeating: 0, count: 256)
        for exponent in 0..<255 { logarithms[Int(powers[exponent])] = exponent }
        return logarithms
    }()
}
