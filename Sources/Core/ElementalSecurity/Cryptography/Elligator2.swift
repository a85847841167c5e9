/// Maps a number to a point of Curve25519, for a generator derived from a password (RFC 9380, section 6.7.1, and
/// appendix D.1).
enum Elligator2 {
    private static let a = FieldElement(486_662)

    /// The point's u-coordinate, 32 bytes.
    ///
    /// - Parameter bytes: 32 bytes of a hash, of which the highest bit is ignored.
    static func map(_ bytes: [UInt8]) -> [UInt8] {
        let r = FieldElement(bytes: bytes)
        let one = FieldElement(1)
        // The one number for which the divisor below is zero is treated as zero; no known hash leads there.
        let doubled = FieldElement(2) * r * r
        let divisor = doubled + one
        let safe = FieldElement.select(divisor.isZero, one, divisor)
        let first = -(a * safe.inverse)
        // The right-hand side of the curve's equation: a square if the point exists.
        let side = first * (first * first + a * first + one)
        let second = -(first + a)
        return FieldElement.select(side.isSquare, first, second).bytes
    }
}
