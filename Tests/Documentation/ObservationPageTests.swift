import Foundation
import TestSupport
import Testing

/// The program on the page Observation.md, as it stands there: the service, and the app without its views.
@Suite(.backstop)
struct ObservationPageTests {
    /// What SwiftUI does with the page's model: looks again at what it has read, once that has changed. It opens the first
    /// service, and sets the brightness to each number on its input, as a finger does.
    private static let viewer = #"""
        import ElementalObservation
        import Foundation

        let model = LampModel()

        @MainActor func show() {
            withObservationTracking {
                if let lamp = model.lamp {
                    print("\(lamp.name): \(lamp.state.description), \(lamp[Lamp.brightness, default: 0])")
                } else {
                    print("services: \(model.browser.services.map(\.name))")
                }
            } onChange: {
                Task { @MainActor in
                    if model.lamp == nil, let first = model.browser.services.first { model.open(first) }
                    show()
                }
            }
        }
        show()
        Thread.detachNewThread {
            while let line = readLine(), let value = Float(line) {
                Task { @MainActor in model.lamp?[Lamp.brightness] = value }
            }
        }
        while true { try await Task.sleep(for: .seconds(3600)) }
        """#

    /// Waits until viewers show a value.
    private static func expect(_ value: String, at phones: ChildProcess...) async throws {
        for phone in phones { try await phone.nextLine { $0 == "Studio lamp: connected, \(value)" } }
    }

    @Test
    func twoModelsAndTheCommandLineSeeTheSame() async throws {
        let page = try #require(Page.all.first { $0.name == "Observation.md" })
        let blocks = try page.blocks.filter { $0.language == "swift" }
        func file(_ name: String) throws -> String { try #require(blocks.first { $0.file == name }).text }
        let files = try ["Lamp.swift", "LampModel.swift"].reduce(into: [:]) { $0[$1] = try file($1) }
        let service = try #require(blocks.first { $0.text.contains("ElementalService(") }).text
        // One model of the page is all that there is to see: the views are SwiftUI's.
        #expect(try file("LampApp.swift").contains("#if canImport(SwiftUI)\n"))

        try await withFolder { folder in
            let compiler = try SwiftCompiler()
            let (lamp, phone) = (folder + "/lamp", folder + "/phone")
            let complaints = try await [
                compiler.compile(service, with: files.filter { $0.key == "Lamp.swift" }, to: lamp),
                compiler.compile(Self.viewer, with: files, to: phone, modules: ["ElementalObservation"]),
            ]
            try #require(complaints == ["", ""], "\(complaints)")
            try await Self.follow(lamp: lamp, phone: phone)
        }
    }

    private static func follow(lamp: String, phone: String) async throws {
        func run(_ program: String, _ body: (ChildProcess) async throws -> Void) async throws {
            try await ChildProcess.with("stdbuf", ["-oL", program], body)
        }
        try await run(phone) { first in
            try await run(phone) { second in
                try await run(lamp) { lamp in
                    try await shareALamp(first, second)
                    lamp.send(signal: SIGKILL)
                    try await lamp.waitForExit()
                    for phone in [first, second] {
                        try await phone.nextLine(beginningWith: "Studio lamp: reconnecting, attempt ")
                    }
                    // What is written meanwhile arrives.
                    try first.writeLine("0.875")
                }
                try await run(lamp) { _ in
                    try await expect("0.875", at: first, second)
                }
            }
        }
    }

    private static func shareALamp(_ first: ChildProcess, _ second: ChildProcess) async throws {
        try await expect("0.5", at: first, second)
        let watch = ["watch", "studio_lamp", "Brightness", "--json"]
        try await ChildProcess.with(ElementalProcess.path, watch) { watch in
            try await watch.nextEvent("value") { $0.number("value") == 0.5 }
            try first.writeLine("0.75")
            try await expect("0.75", at: first, second)
            try await watch.nextEvent("value") { $0.number("value") == 0.75 }

            // A phone is suspended, and comes back to what the lamp is then.
            second.send(signal: SIGSTOP)
            for value in ["0.125", "0.375", "0.25"] {
                let result = try await ElementalProcess.run("set", "studio_lamp", "Brightness=\(value)")
                #expect(result.status == .exited(0), "\(result)")
            }
            try await watch.nextEvent("value") { $0.number("value") == 0.25 }
            try await expect("0.25", at: first)
            second.send(signal: SIGCONT)
            try await expect("0.25", at: second)
        }
    }
}
