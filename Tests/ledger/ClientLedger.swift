import Elemental
import Support

/// Devices that connect to the service, number what they send, and connect again whenever they are cut off.
final class ClientLedger: Sendable {
    private struct Account {
        var down = Tally()
        var downDatagram = Tally()
        var upSent: UInt64 = 0
        var upDatagramSent: UInt64 = 0
        var level: UInt64 = 0
        var reconnections = 0
        var isConnected = true
    }

    private let service: String
    private let prefix: String
    private let limits: DeviceLimits
    private let security: ClientSecurity
    private let accounts = Locked<[String: Account]>([:])

    init(service: String, prefix: String, limits: DeviceLimits, security: ClientSecurity) {
        self.service = service
        self.prefix = prefix
        self.limits = limits
        self.security = security
    }

    func run(count: Int) async throws {
        let found = try await ElementalBrowser("ledger").firstService(named: service, timeout: .seconds(600))
        var devices: [String: ElementalDevice] = [:]
        for number in 1...count {
            let name = "\(prefix)-\(number)"
            // A fault may be under way already.
            while devices[name] == nil {
                do {
                    devices[name] = try await connect(name, to: found)
                } catch {
                    Ledger.say("notYet", ["device": name, "reason": "\(error)"])
                    await Ledger.pause(until: .now + .milliseconds(100))
                }
            }
        }
        Ledger.say("ready")
        await Ledger.serve(
            send: { [self, devices] in for (name, device) in devices { send(by: device, name) } },
            count: { devices.values.count { $0.isConnected } },
            settle: { for device in devices.values { _ = try? await device.ping() } }, report: { report(devices) })
        for device in devices.values { await device.close() }
    }

    private func connect(_ name: String, to found: DiscoveredService) async throws -> ElementalDevice {
        accounts.withLock { $0[name] = Account() }
        var options = ConnectOptions()
        options.limits = limits
        options.security = security
        options.reconnection = .forever(every: .seconds(1))
        return try await found.connect(as: name, elements: Numbers.all, options: options) { [self] device in
            device.onValue(of: Numbers.down) { number in self.accounts.withLock { $0[name]?.down.take(number) } }
            device.onValue(of: Numbers.downDatagram) { number in
                self.accounts.withLock { $0[name]?.downDatagram.take(number) }
            }
            device.onEvent { event in self.note(event, name) }
        }
    }

    private func note(_ event: DeviceEvent, _ name: String) {
        switch event {
        case .willReconnect(let attempt, _):
            let isLoss = accounts.withLock { accounts in
                defer { accounts[name]?.isConnected = false }
                accounts[name]?.down.breakOff()
                accounts[name]?.downDatagram.breakOff()
                return accounts[name]?.isConnected == true
            }
            if isLoss { Ledger.say("lost", ["device": name, "reason": "\(attempt.reason)"]) }
        case .didReconnect:
            accounts.withLock {
                $0[name]?.reconnections += 1
                $0[name]?.isConnected = true
            }
            Ledger.say("back", ["device": name])
        case .disconnected(let reason): Ledger.say("ended", ["device": name, "reason": "\(reason)"])
        }
    }

    private func send(by device: ElementalDevice, _ name: String) {
        accounts.withLock { accounts in
            guard var account = accounts[name] else { return }
            // A number that could not be sent is not used. The level is kept for the return.
            if (try? device.send(account.upSent + 1, to: Numbers.up)) != nil { account.upSent += 1 }
            if (try? device.send(account.upDatagramSent + 1, to: Numbers.upDatagram)) != nil {
                account.upDatagramSent += 1
            }
            if (try? device.send(account.level + 1, to: Numbers.level)) != nil { account.level += 1 }
            accounts[name] = account
        }
    }

    private func report(_ devices: [String: ElementalDevice]) {
        for (name, device) in devices {
            guard let account = accounts.withLock({ $0[name] }) else { continue }
            var members = account.down.members("down").merging(account.downDatagram.members("downDatagram")) { $1 }
            members["device"] = name
            members["connected"] = device.isConnected
            members["upSent"] = account.upSent
            members["upDatagramSent"] = account.upDatagramSent
            members["level"] = account.level
            members["reconnections"] = account.reconnections
            members["datagramsForged"] = device.statistics.datagramsForged
            Ledger.say("account", members)
        }
    }
}
