import Foundation
import TestSupport
import Testing

/// A service and a recorder of the command line, and what is in their file.
enum RecordBed {
    static let elements = [
        "--element", "1:Speed:float:-1...1:unit m/s=0.5", "--element", "2:Camera:bool:latest=on",
        "--element", "3:Aim:float2", "--element", "4:Note:string:ro=seven", "--element",
        "5:Mode:uint8:choices off,heat:wo",
    ]

    static func publish(port: Int = 0, elements: [String] = elements) -> [String] {
        ["publish", "robot", "--unlisted", "--address", "127.0.0.1", "--port", "\(port)", "--json"] + elements
    }

    /// A text that fills a file, and a value that is there from the beginning.
    static let long = ["--element", "1:Text:string", "--element", "2:Count:int32=0"]

    /// Runs a service and a recorder of it, which is connected.
    static func withRecorder(
        _ body: (_ target: String, _ service: ChildProcess, _ recorder: ChildProcess, _ file: String) async throws
            -> Void
    ) async throws {
        try await withFolder { folder in
            let file = "\(folder)/robot.mcap"
            try await ChildProcess.with(ElementalProcess.path, publish()) { service in
                let target = "127.0.0.1:\(try await service.listeningPort())"
                let arguments = ["record", target, "--json", "--to", file]
                try await ChildProcess.with(ElementalProcess.path, arguments) { recorder in
                    try await recorder.nextEvent("serviceState") { $0["state"] == "connected" }
                    try await body(target, service, recorder, file)
                }
            }
        }
    }

    static func info(_ file: String) async throws -> [JSONLine] {
        let result = try await ElementalProcess.run("info", file, "--json")
        try #require(result.status == .exited(0), "\(result)")
        return result.output.compactMap { JSONLine($0) }
    }

    /// Waits until so many values are in the file, which is read while it is written.
    static func waitForValues(_ count: Int, in file: String) async throws {
        try await eventually("\(count) values in the file") {
            guard let result = try? await info(file).first else { return false }
            return result.number("values") == Double(count)
        }
    }
}
