/// A time of the wall clock as people and programs read it: ISO 8601 in UTC, with microseconds.
package struct Timestamp: Sendable {
    private let nanoseconds: UInt64

    /// - Parameter nanoseconds: since 1970.
    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package var text: String {
        let seconds = nanoseconds / 1_000_000_000
        let (year, month, day) = Self.date(days: Int64(seconds / 86400))
        func digits(_ number: some BinaryInteger, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let time = seconds % 86400
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(digits(time / 3600, 2)):"
            + "\(digits(time / 60 % 60, 2)):\(digits(time % 60, 2)).\(digits(nanoseconds / 1000 % 1_000_000, 6))Z"
    }

    /// The date so many days after 1970-01-01, in the Gregorian calendar. Years are counted from March, so that a leap day
    /// is a year's last.
    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // The days of 400, 100 and 4 years.
        let (ages, centuries, leaps): (Int64, Int64, Int64) = (146_097, 36_524, 1461)
        let shifted = days + 719_468
        let age = shifted / ages
        let inAge = shifted % ages
        let year = (inAge - inAge / (leaps - 1) + inAge / centuries - inAge / (ages - 1)) / 365
        let inYear = inAge - (365 * year + year / 4 - year / 100)
        let month = (5 * inYear + 2) / 153
        let day = inYear - (153 * month + 2) / 5 + 1
        return (year + age * 400 + (month >= 10 ? 1 : 0), month >= 10 ? month - 9 : month + 3, day)
    }
}
