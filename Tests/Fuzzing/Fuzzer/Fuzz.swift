import Foundation

#if LIBFUZZER
import CLibFuzzer
#endif

/// The program behind Tests/fuzz. TESTS is the folder Tests of the checkout.
///
/// - `Fuzz targets` prints the names of the targets.
/// - `Fuzz seeds TARGET TESTS FOLDER` writes the seeds into a folder, one file each; `Fuzz inputs` writes the corpus too.
/// - `Fuzz keep TARGET TESTS FOLDER` makes the files of a folder the target's corpus, without the seeds among them.
/// - `Fuzz add TARGET TESTS FILE` adds a file to the target's findings.
/// - `Fuzz run TARGET …` tries inputs. The other arguments are libFuzzer's; without libFuzzer they are the folder of the first
///   inputs, a file for the current input, and the number of seconds.
@main
struct Fuzz {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 2, arguments[1] == "targets" {
            return print(FuzzTargets.all.map { $0.name }.joined(separator: "\n"))
        }
        guard arguments.count >= 5 || arguments.count > 3 && arguments[1] == "run",
            let target = FuzzTargets.named(arguments[2])
        else { fatalError("usage: Fuzz targets | Fuzz inputs|seeds|keep|add TARGET TESTS PATH | Fuzz run TARGET …") }
        let corpus = Corpus(tests: arguments[3])
        switch arguments[1] {
        case "inputs", "seeds":
            let inputs = try arguments[1] == "seeds" ? corpus.seeds(of: target) : corpus.inputs(of: target)
            for input in inputs {
                try Data(input.bytes).write(to: URL(fileURLWithPath: "\(arguments[4])/\(input.name)"))
            }
        case "keep":
            let seeds = Set(try corpus.seeds(of: target).map(\.bytes))
            try corpus.keep(files(in: arguments[4]).filter { !seeds.contains($0) }, of: target)
        case "add": try corpus.add(finding: contents(of: arguments[4]), of: target)
        default: try run(target, Array(arguments[3...]))
        }
    }

    private static func files(in folder: String) throws -> [[UInt8]] {
        try FileManager.default.contentsOfDirectory(atPath: folder).map { try contents(of: "\(folder)/\($0)") }
    }

    private static func contents(of path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    #if LIBFUZZER
    nonisolated(unsafe) private static var target: any FuzzTarget.Type = StreamTarget.self

    private static func run(_ target: any FuzzTarget.Type, _ arguments: [String]) throws {
        Self.target = target
        var count = CInt(arguments.count + 1)
        // To merge, libFuzzer runs the first argument as a shell command, with other arguments behind it.
        let strings = (["\(CommandLine.arguments[0]) run \(target.name)"] + arguments).map { strdup($0) } + [nil]
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
            fatalError("usage: Fuzz run TARGET INPUTS INPUT SECONDS")
        }
        try SeededFuzzer(seeds: arguments[0], current: arguments[1]).run(target, seconds: seconds)
    }
    #endif
}
