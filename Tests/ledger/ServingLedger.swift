import Elemental
import Support

final class ServingLedger: Sendable {
    private struct Account {
        /// Its newest connection. There may be an older one that has not timed out yet.
        var device: ElementalDevice?
        var up = Tally()
        var upDatagram = Tally()
        var downSent: UInt64 = 0
        var downDatagramSent: UInt64 = 0
        var connections = 0
        var level: UInt64 = 0
    }

    private let service: ElementalService
    private let accounts = Locked<[String: Account]>([:])

    init(name: String, limits: DeviceLimits, security: ServiceSecurity) {
        var configuration = ServiceConfiguration()
        configuration.security = security
        configuration.limits = limits
        service = ElementalService("ledger", displayName: name, elements: Numbers.all, configuration: configuration)
        service.onEvent { [accounts] event in
            switch event {
            case .published(let name): Ledger.say("published", ["name": name])
            case .deviceConnected(let device):
                Self.change(accounts, device) {
                    $0.connections += 1
                    $0.device = device
                    $0.up.breakOff()
                    $0.upDatagram.breakOff()
                }
                Ledger.say("connected", ["device": device.name])
            case .deviceDisconnected(let device, let reason):
                Ledger.say("disconnected", ["device": device.name, "reason": "\(reason)", "code": reason.code])
            default: Ledger.say("other", ["text": "\(event)"])
            }
        }
        service.onValue(of: Numbers.up) { [accounts] number, device in
            Self.change(accounts, device) { $0.up.take(number, isOfBefore: $0.device !== device) }
        }
        service.onValue(of: Numbers.upDatagram) { [accounts] number, device in
            Self.change(accounts, device) { $0.upDatagram.take(number, isOfBefore: $0.device !== device) }
        }
        service.onValue(of: Numbers.level) { [accounts] number, device in
            Self.change(accounts, device) { $0.level = max($0.level, number) }
        }
    }

    private static func change(
        _ accounts: Locked<[String: Account]>, _ device: ElementalDevice, _ body: (inout Account) -> Void
    ) {
        accounts.withLock { accounts in
            var account = accounts.removeValue(forKey: device.name) ?? Account()
            body(&account)
            accounts[device.name] = account
        }
    }

    func run() async throws {
        try await service.start()
        await Ledger.serve(
            send: { [self] in send() }, count: { service.devices.count },
            settle: { for device in service.devices { _ = try? await device.ping() } }, report: report)
        await service.stop()
    }

    private func send() {
        accounts.withLock { accounts in
            for (name, var account) in accounts {
                guard let device = account.device else { continue }
                // A number that could not be sent is not used.
                if (try? device.send(Ledger.run | account.downSent + 1, to: Numbers.down)) != nil {
                    account.downSent += 1
                }
                if (try? device.send(Ledger.run | account.downDatagramSent + 1, to: Numbers.downDatagram)) != nil {
                    account.downDatagramSent += 1
                }
                accounts[name] = account
            }
        }
    }

    private func report() {
        for (name, account) in accounts.withLock({ $0 }) {
            var members = account.up.members("up").merging(account.upDatagram.members("upDatagram")) { $1 }
            members["device"] = name
            members["downSent"] = account.downSent
            members["downDatagramSent"] = account.downDatagramSent
            members["connections"] = account.connections
            members["level"] = account.level
            members["datagramsForged"] = account.device?.statistics.datagramsForged
            Ledger.say("account", members)
        }
    }
}
