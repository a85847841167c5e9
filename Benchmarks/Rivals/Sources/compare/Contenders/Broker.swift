import Foundation

/// A private mosquitto: on loopback, without authentication, Nagle's delay or persistence.
final class Broker {
    let port: Int
    private let child: Child

    init(core: Int?) throws {
        port = try freePort()
        let file = try TemporaryFolder.make().appendingPathComponent("mosquitto.conf")
        let configuration = """
            listener \(port) 127.0.0.1
            allow_anonymous true
            set_tcp_nodelay true
            persistence false
            log_type error
            """
        try Data((configuration + "\n").utf8).write(to: file)
        // Debian keeps it in a folder that a normal user's PATH may lack.
        let program = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        // It does not exit at the end of its standard input, so it is set to be killed with this process.
        let command = Command(program ?? "mosquitto", ["-c", file.path]).on(core: core)
        child = try Child(Command("setpriv", ["--pdeathsig", "TERM", command.program] + command.arguments))
        for _ in 0..<500 {
            if canConnect(to: port) { return }
            usleep(10_000)
        }
        throw CompareError("mosquitto does not answer: \(child.complaint() ?? "no reason given")")
    }

    deinit { child.terminate() }
}

private func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    return address
}

private func withSocket<Result>(
    _ port: Int, _ body: (Int32, UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Result
) -> Result {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body(descriptor, $0, &length) }
    }
}

/// A free port of 127.0.0.1.
private func freePort() throws -> Int {
    let port = withSocket(0) { descriptor, address, length in
        guard bind(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0 else { return 0 }
        return Int(UnsafeRawPointer(address).load(as: sockaddr_in.self).sin_port.bigEndian)
    }
    guard port > 0 else { throw CompareError("no free port on 127.0.0.1") }
    return port
}

private func canConnect(to port: Int) -> Bool {
    withSocket(port) { descriptor, address, length in connect(descriptor, address, length) == 0 }
}
