import Foundation

/// The command line's options; the script Benchmarks/compare, which starts this program, documents them.
struct CompareOptions {
    var rounds = 3
    var seconds = 1.0
    var groups = Set(Group.allCases)
    var json: String?
    var svg: String?
    var checks = false
    var elemental: String?
    var root: String?

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            func value() throws -> String {
                guard let value = rest.popFirst() else { throw CompareError("\(name) needs a value; see --help") }
                return value
            }
            func number<Number: LosslessStringConvertible & Comparable>(_ range: ClosedRange<Number>) throws -> Number {
                let text = try value()
                guard let number = Number(text), range.contains(number) else {
                    throw CompareError("\(name) takes \(range.lowerBound) to \(range.upperBound), not \(text)")
                }
                return number
            }
            switch name {
            case "--rounds": rounds = try number(1...1000)
            case "--seconds": seconds = try number(0.1...600)
            case "--only": groups = try Self.groups(try value())
            case "--json": json = try value()
            case "--svg": svg = try value()
            case "--check": checks = true
            case "--elemental": elemental = try value()
            case "--root": root = try value()
            default: throw CompareError("there is no option \(name); see --help")
            }
        }
    }

    private static func groups(_ list: String) throws -> Set<Group> {
        try Set(
            list.split(separator: ",").map { name in
                guard let group = Group(rawValue: String(name)) else {
                    let all = Group.allCases.map(\.rawValue).joined(separator: ", ")
                    throw CompareError("--only takes \(all), not \(name)")
                }
                return group
            })
    }

    /// The programs in this one's folder and in the repository.
    func programs() throws -> Programs {
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
        guard let root else { throw CompareError("--root says where the repository is; Benchmarks/compare gives it") }
        let programs = Programs(
            elemental: elemental ?? "\(root)/.build/release/elemental", peers: folder,
            privateAvahi: "\(root)/Samples/private-avahi")
        try programs.check()
        return programs
    }
}
