import Dispatch
import Foundation
import Zeroconf

// Publishes, browses or resolves in a process of its own, for tests that kill it, stop its daemon or run it on another
// host. Prints a line for every event; exits at the end of its standard input.

/// Prints and flushes, also into a pipe.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func describe(_ service: ResolvedService) -> String {
    let addresses = service.addresses.map(\.presentation).joined(separator: ",")
    return "\(service.instance.name) | \(service.host) | \(service.port) | \(addresses) | \(service.txt)"
}

func record(_ pairs: some Sequence<Substring>) -> TXTRecord {
    TXTRecord(
        pairs.map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (key: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        })
}

/// The lines of standard input, read on a thread of its own because readLine blocks.
func inputLines() -> AsyncStream<String> {
    AsyncStream { continuation in
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
    }
}

func publish(_ name: String, _ type: ServiceType, port: Int, txt: TXTRecord) async throws {
    let publisher = try ServicePublisher(name: name, type: type, port: port, txt: txt)
    let events = publisher.events()
    let printing = Task {
        for await event in events {
            switch event {
            case .published(let name): say("published \(name)")
            case .renamed(let old, let new): say("renamed \(old) -> \(new)")
            case .failed(let error, let wait): say("failed \(error.code) retry in \(wait): \(error)")
            }
        }
    }
    publisher.start()
    for await line in inputLines() {
        if line.hasPrefix("txt ") {
            try publisher.update(txt: record(line.dropFirst(4).split(separator: " ")))
        } else if line == "stop" {
            await publisher.stop()
            say("stopped")
        }
    }
    printing.cancel()
}

/// Publishes services with that name and a number each. Any line changes their records to it.
func publishMany(_ name: String, _ type: ServiceType, _ count: Int) async throws {
    let publishers = try (1...count).map { number in
        try ServicePublisher(name: "\(name) \(number)", type: type, port: 7000 + number)
    }
    let events = publishers.map { $0.events() }
    for publisher in publishers { publisher.start() }
    for events in events {
        for await case .published(let name) in events {
            say("published \(name)")
            break
        }
    }
    for await line in inputLines() {
        for publisher in publishers { try publisher.update(txt: record(line.split(separator: " "))) }
    }
}

func browse(_ type: ServiceType) async {
    let browser = ServiceBrowser(type: type)
    let printing = print(browser)
    for await line in inputLines() {
        switch line {
        case "stop":
            await browser.stop()
            say("stopped")
        // Another subscriber.
        default: _ = print(browser)
        }
    }
    printing.cancel()
}

/// Prints events from now on.
func print(_ browser: ServiceBrowser) -> Task<Void, Never> {
    let events = browser.events()
    return Task {
        for await event in events {
            switch event {
            case .found(let service): say("found \(describe(service))")
            case .updated(let service): say("updated \(describe(service))")
            case .gone(let instance): say("gone \(instance.name)")
            case .unresolved(let instance, let error): say("unresolved \(instance.name): \(error)")
            case .failed(let error, let wait): say("failed \(error.code) retry in \(wait): \(error)")
            }
        }
    }
}

/// Publishes, browses and resolves repeatedly, and prints what that leaves open.
func churn(_ type: ServiceType, rounds: Int) async throws {
    func count(_ folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count) ?? -1
    }
    for round in 0...rounds {
        let publisher = try ServicePublisher(name: "Churn", type: type, port: 7000)
        publisher.start()
        let browser = ServiceBrowser(type: type)
        var found: ServiceInstance?
        for await case .found(let service) in browser.events() {
            found = service.instance
            break
        }
        if let found {
            _ = try await Resolver.resolve(found)
            // One that is given up, too.
            _ = try? await Resolver.resolve(ServiceInstance(name: "Nobody", type: type), timeout: .milliseconds(50))
        }
        await browser.stop()
        await publisher.stop()
        // The first round opens what stays open for good.
        if round == 0 || round == rounds { say("round \(round) descriptors \(count("fd")) threads \(count("task"))") }
    }
    // Idle worker threads of Dispatch end after some seconds.
    for await _ in inputLines() { say("now descriptors \(count("fd")) threads \(count("task"))") }
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch arguments.first {
    case "publish" where arguments.count >= 4:
        try await publish(
            arguments[1], ServiceType(arguments[2]), port: Int(arguments[3]) ?? 0,
            txt: record(arguments[4...].map { $0[...] }))
    case "publish-many" where arguments.count == 4:
        try await publishMany(arguments[1], ServiceType(arguments[2]), Int(arguments[3]) ?? 1)
    case "browse" where arguments.count == 2:
        try await browse(ServiceType(arguments[1]))
    case "resolve" where arguments.count == 4:
        let instance = ServiceInstance(name: arguments[1], type: try ServiceType(arguments[2]))
        say("resolved \(describe(try await Resolver.resolve(instance, timeout: .seconds(Int(arguments[3]) ?? 1))))")
    case "churn" where arguments.count == 3:
        try await churn(ServiceType(arguments[1]), rounds: Int(arguments[2]) ?? 1)
    default:
        say(
            "usage: zeroconf-probe publish NAME TYPE PORT [KEY=VALUE...] | publish-many NAME TYPE COUNT | browse TYPE | resolve NAME TYPE SECONDS "
                + "| churn TYPE ROUNDS")
        exit(64)
    }
} catch {
    say("error \(error)")
    exit(1)
}
