import Glibc
import TestSupport

/// Connections of one process of their own, since a process may not open as many as a test needs.
struct Crowd {
    /// What one batch of connections got.
    struct Answers {
        /// The first bytes of each, in hexadecimal digits; of those that were not to read, none.
        let beginnings: [String]
        /// What the last one read until its end, if it was to.
        let last: String
    }

    private static let program = """
        import json, resource, socket, sys

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
        port, crowd = int(sys.argv[1]), []
        for line in sys.stdin:
            batch = json.loads(line)
            sockets = []
            for index in range(batch["count"]):
                address = "127.0.0.%d" % (1 + index // batch["perAddress"])
                one = socket.create_connection(("127.0.0.1", port), source_address=(address, 0))
                try:
                    one.sendall(bytes.fromhex(batch["says"]))
                except OSError:
                    pass
                sockets.append(one)
            crowd += sockets
            beginnings = [one.recv(batch["reads"], socket.MSG_WAITALL).hex() for one in sockets if batch["reads"]]
            last = b""
            while batch["end"]:
                part = sockets[-1].recv(65536)
                if not part:
                    break
                last += part
            told = {"event": "connected", "beginnings": beginnings, "last": last.decode(errors="replace")}
            print(json.dumps(told), flush=True)
        """

    /// Its process. It ends, and with it all connections, when its input does.
    let process: ChildProcess

    /// How many descriptors its process may have at most.
    static let limit: Int = {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_max)
    }()

    static func with<Result>(to port: Int, _ body: (Crowd) async throws -> Result) async throws -> Result {
        try await ChildProcess.with("python3", ["-c", program, "\(port)"]) { try await body(Crowd(process: $0)) }
    }

    /// Makes connections, one after the other, and keeps them: so many of each address of this machine. Each says something
    /// and reads so many bytes then; the last one may read until its end.
    func connect(
        _ count: Int, perAddress: Int = .max, saying bytes: [UInt8] = [], reading: Int = 0, untilEnd: Bool = false
    ) async throws -> Answers {
        let digits = bytes.map { String(Int($0) + 256, radix: 16).suffix(2) }.joined()
        try process.writeLine(
            #"{"count":\#(count),"perAddress":\#(perAddress),"says":"\#(digits)","reads":\#(reading),"end":\#(untilEnd)}"#
        )
        let answer = try await process.nextEvent("connected")
        return Answers(beginnings: answer["beginnings"] ?? [], last: answer["last"] ?? "")
    }

    func leave() async throws {
        process.closeInput()
        try await process.waitForExit()
    }
}
