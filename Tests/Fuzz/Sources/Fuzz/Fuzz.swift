import Foundation

#if LIBFUZZER
import CLibFuzzer
#endif

/// `Fuzz seeds TARGET VECTORS FOLDER` writes the inputs to begin with; `Fuzz run TARGET …` tries inputs: the rest of the
/// arguments are libFuzzer's, or without it the folder with the seeds, a file for the input under way and seconds.
@main
struct Fuzz {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 2, arguments[1] == "targets" {
            return print(FuzzTargets.all.map { $0.name }.joined(separator: "\n"))
        }
        guard arguments.count >= 3, let target = FuzzTargets.all.first(where: { $0.name == arguments[2] }) else {
            fatalError("usage: Fuzz targets | Fuzz seeds TARGET VECTORS FOLDER | Fuzz run TARGET …")
        }
        switch arguments[1] {
        case "seeds":
            let seeds = target.seeds(try RecordedFrames(path: arguments[3]))
            for (number, seed) in seeds.enumerated() {
                try Data(seed).write(to: URL(fileURLWithPath: "\(arguments[4])/\(number)"))
            }
        default:
            try run(target, Array(arguments[3...]))
        }
    }

    #if LIBFUZZER
    nonisolated(unsafe) private static var target: any FuzzTarget.Type = StreamTarget.self

    private static func run(_ target: any FuzzTarget.Type, _ arguments: [String]) throws {
        Self.target = target
        var count = CInt(arguments.count + 1)
        let strings = (["Fuzz"] + arguments).map { strdup($0) } + [nil]
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count)
        list.initialize(from: strings, count: strings.count)
        var start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = list
        exit(
            LLVMFuzzerRunDriver(&count, &start) { bytes, count in
                Fuzz.target.run(UnsafeRawBufferPointer(start: bytes, count: count))
                return 0
            })
    }
    #else
    private static func run(_ target: any FuzzTarget.Type, _ arguments: [String]) throws {
        guard arguments.count == 3, let seconds = Double(arguments[2]) else {
            fatalError("usage: Fuzz run TARGET SEEDS INPUT SECONDS")
        }
        try SeededFuzzer(seeds: arguments[0], current: arguments[1]).run(target, seconds: seconds)
    }
    #endif
}
