/// A number as 6502 programmers write it: `$0A`, `$C000`.
func hexadecimal(_ value: some FixedWidthInteger & UnsignedInteger) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return "$" + String(repeating: "0", count: value.bitWidth / 4 - digits.count) + digits
}
