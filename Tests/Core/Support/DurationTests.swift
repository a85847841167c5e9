import Support
import Testing

struct DurationTests {
    @Test(
        "nanoseconds are clamped to those that there are",
        arguments: [
            (Duration.seconds(1.5), 1_500_000_000), (.nanoseconds(-1), -1), (.seconds(Int64.max), .max),
            (.seconds(Int64.min), .min), (.nanoseconds(Int64.max), .max),
            (.nanoseconds(Int64.max) + .nanoseconds(Int64(1)), .max), (.nanoseconds(Int64.min), .min),
        ] as [(Duration, Int64)])
    func nanoseconds(_ duration: Duration, _ nanoseconds: Int64) {
        #expect(duration.nanoseconds == nanoseconds)
    }
}
