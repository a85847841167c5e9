/// This machine, read from the kernel.
public struct Machine: Sendable {
    /// All readings of one moment.
    public struct Sample: Sendable {
        public let load: LoadAverage
        public let memory: Memory
        public let uptime: Uptime
        public let network: NetworkCounters
        /// Bytes per second since the sample before; `nil` for the first one.
        public let networkRates: (received: Double, sent: Double)?
        /// Percent of the time since the sample before; `nil` for the first one.
        public let processorLoad: Double?
        /// Degrees Celsius; `nil` where the machine has no sensor or the sensor does not answer.
        public let temperature: Double?
    }

    /// The sensor of the processor's temperature, if the machine has one.
    public let thermalZone: ThermalZone?
    private let proc: String
    private var earlier: (network: NetworkCounters, processor: CPUTimes, time: ContinuousClock.Instant)?

    /// - Parameters:
    ///   - proc: the mount point of procfs.
    ///   - thermal: the folder of the kernel's temperature sensors.
    public init(proc: String = "/proc", thermal: String = "/sys/class/thermal") {
        self.proc = proc
        thermalZone = ThermalZone.processor(in: thermal)
    }

    /// Reads everything once.
    ///
    /// - Throws: ``ReadingError`` naming the file that cannot be read or understood.
    public mutating func sample() throws(ReadingError) -> Sample {
        let network = try read("net/dev", NetworkCounters.init)
        let processor = try read("stat", CPUTimes.init)
        let now = ContinuousClock.now
        let sample = Sample(
            load: try read("loadavg", LoadAverage.init),
            memory: try read("meminfo", Memory.init),
            uptime: try read("uptime", Uptime.init),
            network: network,
            networkRates: earlier.flatMap { network.rates(since: $0.network, seconds: (now - $0.time) / .seconds(1)) },
            processorLoad: earlier.flatMap { processor.load(since: $0.processor) },
            temperature: thermalZone?.celsius())
        earlier = (network, processor, now)
        return sample
    }

    private func read<Value>(_ name: String, _ parse: (String) -> Value?) throws(ReadingError) -> Value {
        let path = "\(proc)/\(name)"
        guard let value = parse(try SmallFile.text(path)) else {
            throw ReadingError(path, "not in the format of Linux")
        }
        return value
    }
}
