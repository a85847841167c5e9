extension FixedWidthInteger {
    /// The sum, clamped to the range of the type: for numbers from outside, which can have any value.
    package func clampedSum(_ other: Self) -> Self {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }
}
