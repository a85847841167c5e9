import Foundation
import TestSupport
import Testing

/// Every target of the fuzzers takes every input of its corpus, without libFuzzer.
struct CorpusTests {
    @Test(.backstop, arguments: OwnProcess.work.map { [$0] } ?? FuzzTargets.all.map { $0.name })
    func everyInputIsTaken(target name: String) async throws {
        if OwnProcess.work == nil {
            return try await OwnProcess.run(name, of: "FuzzingTests.CorpusTests/everyInputIsTaken")
        }
        let target = try #require(FuzzTargets.named(name))
        for input in try Corpus(tests: Repository.path("Tests")).inputs(of: target) {
            print("\(name), \(input.name)")
            fflush(nil)
            input.bytes.withUnsafeBytes { target.run($0) }
        }
    }

    /// The files of targets that have gone are to go too.
    @Test func everyFileBelongsToATarget() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Repository.path("Tests/Fuzzing/Corpus"))
        let names = FuzzTargets.all.flatMap { ["\($0.name).txt", "\($0.name)-findings.txt"] }
        #expect(Set(files).subtracting(names).isEmpty)
        #expect(Set(FuzzTargets.all.map { "\($0.name).txt" }).isSubset(of: files))
    }
}
