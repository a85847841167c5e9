import Foundation
import Testing

/// The resources of a process.
struct Holdings: CustomStringConvertible {
    let kibibytes: Int
    let descriptors: Int

    init(of process: Int32) throws {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
        kibibytes = try #require(line.flatMap { Int($0.filter(\.isNumber)) })
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    var description: String { "\(kibibytes) KiB, \(descriptors) descriptors" }
}
