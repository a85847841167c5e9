extension FixedWidthInteger {
    /// The sum, or the largest or smallest number where it lies beyond: for numbers from elsewhere, which may be any.
    package func clampedSum(_ other: Self) -> Self {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }
}
