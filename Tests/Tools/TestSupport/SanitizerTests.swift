import TestSupport
import Testing

/// What test runs with a sanitizer rely on.
struct SanitizerTests {
    @Test("a sanitizer's report about a child process fails the test, even if the child ended normally")
    func aReportIsAnError() async throws {
        try await withFolder { folder in
            let error = await #expect(throws: TestSupportError.self) {
                try await ChildProcess.with(
                    "sh", ["-c", "echo WARNING: a race >$\(Sanitizer.logVariable).$$"],
                    environment: [Sanitizer.logVariable: "\(folder)/report"]
                ) { try await $0.waitForExit() }
            }
            #expect(error?.description.contains("a race") == true)
        }
    }

    @Test(
        "the products that tests start have the sanitizer of the tests, or none",
        arguments: ["elemental", "zeroconf-probe"])
    func productsAreBuiltAlike(_ product: String) throws {
        let path = try BuiltProduct.path(of: product)
        for sanitizer in [Sanitizer.thread, .address] {
            #expect(try sanitizer.isIn(path) == (sanitizer == Sanitizer.current), "\(sanitizer)")
        }
    }
}
