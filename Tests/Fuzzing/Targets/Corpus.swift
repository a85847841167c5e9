import Foundation

/// The inputs that every test run replays and that the fuzzers begin with: a target's seeds and its files in the folder Corpus.
///
/// A file holds an input per line, in Base64. `Tests/fuzz --keep` rewrites `NAME.txt`: it holds the smallest set of inputs
/// found so far that reaches the code that the seeds do not reach. `Tests/fuzz --add` appends an input that once failed to
/// `NAME-findings.txt`; nothing removes it again.
struct Corpus {
    struct Input {
        /// The file and the line, or the number of the seed.
        let name: String
        let bytes: [UInt8]
    }

    let tests: String

    private var folder: String { "\(tests)/Fuzzing/Corpus" }

    func inputs(of target: any FuzzTarget.Type) throws -> [Input] {
        try seeds(of: target) + inputs(in: "\(target.name).txt") + inputs(in: "\(target.name)-findings.txt")
    }

    func seeds(of target: any FuzzTarget.Type) throws -> [Input] {
        let frames = try RecordedFrames(path: "\(tests)/WireVectors/vectors.json")
        return ([[]] + target.seeds(frames)).enumerated().map { Input(name: "seed \($0)", bytes: $1) }
    }

    private func inputs(in file: String) throws -> [Input] {
        let path = "\(folder)/\(file)"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.split(separator: "\n", omittingEmptySubsequences: true).enumerated().map { number, line in
            let name = "\(file):\(number + 1)"
            guard let data = Data(base64Encoded: String(line)) else { throw CorpusError("\(name) is not Base64") }
            return Input(name: name, bytes: Array(data))
        }
    }

    func keep(_ inputs: [[UInt8]], of target: any FuzzTarget.Type) throws {
        let lines = inputs.filter { !$0.isEmpty }.map { Data($0).base64EncodedString() }
        try write(lines.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }, "\(target.name).txt")
    }

    func add(finding: [UInt8], of target: any FuzzTarget.Type) throws {
        let file = "\(target.name)-findings.txt"
        let lines = try inputs(in: file).map { Data($0.bytes).base64EncodedString() }
        try write(lines + [Data(finding).base64EncodedString()], file)
    }

    private func write(_ lines: [String], _ file: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try lines.map { $0 + "\n" }.joined().write(toFile: "\(folder)/\(file)", atomically: true, encoding: .utf8)
    }
}

struct CorpusError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
