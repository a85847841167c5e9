import Foundation
import TestSupport

/// The compiler, with the flags of a program that uses this package's products.
///
/// The flags are those with which SwiftPM compiled this test, from its build folder: the folder of the modules and the
/// module maps of C libraries. The package's name is not among them, so that only public API is visible.
struct SwiftCompiler {
    private let compiler: String
    private let flags: [String]
    private let buildFolder: URL

    init() throws {
        buildFolder = URL(filePath: try BuiltProduct.path(of: "elemental")).deletingLastPathComponent()
        let configuration = buildFolder.lastPathComponent
        let manifest = buildFolder.appending(path: "../../\(configuration).yaml").standardizedFileURL
        let text = try String(contentsOf: manifest, encoding: .utf8)
        let mark = #""-module-name","DocumentationTests""#
        guard
            let line = text.components(separatedBy: "\n").first(where: {
                $0.contains("args: [") && $0.contains(mark) && $0.contains(#""-emit-module""#)
            }), let start = line.firstIndex(of: "["),
            let arguments = try JSONDecoder().decode([String]?.self, from: Data(line[start...].utf8)),
            let compiler = arguments.first
        else {
            throw TestSupportError("\(manifest.path) does not tell how SwiftPM compiled DocumentationTests")
        }
        self.compiler = compiler
        var flags = ["-swift-version", "6"]
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            switch argument {
            case "-I", "-Xcc", "-target", "-sdk", "-module-cache-path":
                if let value = rest.popFirst() { flags += [argument, value] }
            case _ where argument.hasPrefix("-sanitize="): flags.append(argument)
            default: break
            }
        }
        self.flags = flags
    }

    /// Checks a program of this `main.swift` and other files, or builds it at a path. A program that is built has what
    /// `elemental` is linked with, and `modules` of this package besides.
    ///
    /// - Returns: the compiler's diagnostics; empty if there are none.
    func compile(
        _ main: String, with others: [String: String] = [:], to executable: String? = nil, modules: [String] = []
    ) async throws -> String {
        try await withFolder { folder in
            let files = others.merging(["main.swift": main]) { $1 }
            for (name, text) in files {
                try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
            }
            var arguments = flags + files.keys.sorted().map { "\(folder)/\($0)" }
            if let executable {
                arguments += ["-emit-executable", "-o", executable] + (try linking(modules, in: folder))
            } else {
                arguments.append("-typecheck")
            }
            return try await ChildProcess.with(compiler, arguments) { child in
                child.closeInput()
                let status = try await child.waitForExit()
                guard status != .exited(0) else { return "" }
                return (child.lines(of: .output) + child.lines(of: .error)).joined(separator: "\n")
            }
        }
    }

    /// The arguments that link a program with what `elemental` is linked of, without its own files, and with modules.
    private func linking(_ modules: [String], in folder: String) throws -> [String] {
        let objects = folder + "/objects"
        let list = buildFolder.appending(path: "elemental.product/Objects.LinkFileList")
        try String(contentsOf: list, encoding: .utf8).components(separatedBy: "\n")
            .filter { !$0.contains("/ElementalCLI.build/") }.joined(separator: "\n")
            .write(toFile: objects, atomically: false, encoding: .utf8)
        // The build leaves the objects of files that have been deleted.
        let sources = FileManager.default.enumerator(atPath: Repository.path("Sources"))
        let names = Set((sources?.allObjects ?? []).map { URL(filePath: "\($0)").lastPathComponent + ".o" })
        let more = try modules.flatMap { module in
            let objects = buildFolder.appending(path: "\(module).build").path
            return try FileManager.default.contentsOfDirectory(atPath: objects).filter(names.contains)
                .map { "\(objects)/\($0)" }
        }
        return ["@\(objects)"] + more + ["-ldns_sd", "-lavahi-common", "-lstdc++"]
    }
}
