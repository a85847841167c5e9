import ArgumentParser
import Elemental

/// What a peer may take of this process.
struct LimitOptions: ParsableArguments {
    @Option(
        name: .customLong("max-value"),
        help: ArgumentHelp(
            "The longest value taken from the other end, in bytes (default: \(DeviceLimits().maximumValueByteCount)).",
            valueName: "bytes"))
    var maximumValueByteCount = DeviceLimits().maximumValueByteCount

    func validate() throws {
        guard !(1...Int(UInt32.max)).contains(maximumValueByteCount) else { return }
        throw ValidationError("--max-value takes 1 to \(UInt32.max) bytes, not \(maximumValueByteCount)")
    }

    /// The limits of a connection, with what was chosen.
    var device: DeviceLimits {
        var limits = DeviceLimits()
        limits.maximumValueByteCount = maximumValueByteCount
        return limits
    }
}
