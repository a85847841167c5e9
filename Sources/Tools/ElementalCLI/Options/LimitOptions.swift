import ArgumentParser
import Elemental

/// How much of this process's memory a peer may use.
struct LimitOptions: ParsableArguments {
    @Option(
        name: .customLong("max-value"),
        help: ArgumentHelp(
            "The longest value to accept from the other end, in bytes.",
            valueName: "bytes"))
    var maximumValueByteCount = DeviceLimits().maximumValueByteCount

    func validate() throws { try Self.check(maximumValueByteCount) }

    static func check(_ byteCount: Int) throws {
        guard !(1...Int(UInt32.max)).contains(byteCount) else { return }
        throw ValidationError("--max-value takes 1 to \(UInt32.max) bytes, not \(byteCount)")
    }

    var device: DeviceLimits { DeviceLimits(maximumValueByteCount: maximumValueByteCount) }
}
