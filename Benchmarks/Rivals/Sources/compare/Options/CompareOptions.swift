import Foundation

/// What the command line says.
struct CompareOptions {
    var rounds = 3
    var seconds = 1.0
    var groups = Set(Group.allCases)
    var json: String?
    var svg: String?
    var elemental: String?
    var root: String?

    static let help = """
        Usage: Benchmarks/compare [OPTION…]

        Measures the framework against raw C with epoll, SwiftNIO's bare echo, ZeroMQ, nng and MQTT through mosquitto:
        each contender in two processes on loopback, the contenders taking turns within a round. Prints a table for each
        measure and at the end what was to be reached; the exit status is 0 if every "must" holds, otherwise 1.
        Leave the machine alone meanwhile: whatever else runs is measured too.

          --rounds N       how often each contender runs (default 3); figures are medians, with lowest–highest
          --seconds S      how long one throughput run counts (default 1)
          --only LIST      some of: roundtrip,throughput,fanout,load,scale,start
          --json FILE      writes every figure of every round to a file
          --svg FILE       draws a picture
          --elemental FILE measures this build of the command line rather than .build/release/elemental
          --help           this text

        Examples:
          Benchmarks/compare
          Benchmarks/compare --only roundtrip --rounds 5
          Benchmarks/compare --json figures.json --svg figures.svg

        Pinned means that both ends share the first core, so that what is measured is work and not the waking of another
        core; free leaves it to the kernel. Ratios are taken within each round, so that a machine that grows slower
        meanwhile is slower for both.
        """

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

    /// The programs beside this one and in the repository.
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
