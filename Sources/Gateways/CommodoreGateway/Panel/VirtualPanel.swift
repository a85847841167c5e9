import Elemental
import NIOCore
import VirtualCommodore

/// The screen, keyboard and joysticks of a virtual machine as elements. Used on the gateway's event loop only.
///
/// The value of a joystick's element is the state of the stick. Once a client has moved a stick, a program's report
/// counts only if it is still the state of the stick. Reports are delayed on the line, and a stale one would undo the
/// client's move.
final class VirtualPanel {
    let screen: ScreenFeed
    private let machine: VirtualMachine
    private let service: ElementalService
    private let eventLoop: any EventLoop
    /// Ports 1 and 2.
    private var joysticks = [HeldJoystick<ElementalDevice>](repeating: HeldJoystick(), count: 2)
    /// Whether the program has the standard elements, and with them the joysticks.
    private var isStandard = true

    init(_ machine: VirtualMachine, service: ElementalService, eventLoop: any EventLoop) {
        self.machine = machine
        self.service = service
        self.eventLoop = eventLoop
        screen = ScreenFeed(machine, service: service, eventLoop: eventLoop)
    }

    func start() {
        for port in joysticks.indices { tell(port) }
        screen.clientsChanged()
    }

    func stop() { screen.stop() }

    // MARK: Elements

    func catalogue(of elements: [ElementDefinition], isStandard: Bool) -> ElementCatalogue {
        CommodoreElements.catalogue(
            of: isStandard ? elements.map(CommodoreElements.movable) : elements,
            CommodoreElements.own + CommodoreElements.ofVirtualMachine)
    }

    func elementsChanged(isStandard: Bool) {
        self.isStandard = isStandard
        // Elements that are new in the catalogue have no values yet.
        for port in joysticks.indices { tell(port) }
    }

    /// Whether clients' values of the element are for this panel.
    func has(_ element: ElementDefinition) -> Bool {
        element.id == CommodoreElements.keys.id || port(of: element) != nil
    }

    /// The joystick of an element: 0 for port 1, 1 for port 2.
    func port(of element: ElementDefinition) -> Int? {
        isStandard ? CommodoreElements.virtualJoysticks.firstIndex { $0.id == element.id } : nil
    }

    func take(_ value: ElementValue, of element: ElementDefinition, from device: ElementalDevice) throws(ValueRefusal) {
        switch value {
        case .string(let text): try machine.type(text)
        case .uint8(let switches):
            guard let port = port(of: element) else { return }
            joysticks[port].set(switches, by: device)
            move(port)
        default: break
        }
    }

    // MARK: Joysticks

    func release(_ device: ElementalDevice) {
        for port in joysticks.indices where joysticks[port].release(device) { move(port) }
    }

    /// - Parameter counts: called if the report is the state of the stick.
    func programReports(_ value: ElementValue, _ port: Int, ifItCounts counts: @escaping @Sendable () -> Void) {
        guard case .uint8(let switches) = value else { return }
        let moves = joysticks[port].moves
        guard moves > 0 else {
            joysticks[port].note(switches)
            tell(port)
            return counts()
        }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        machine.change { [eventLoop] commodore in
            guard Self.switches(of: commodore, port) == switches else { return }
            eventLoop.execute {
                let panel = bound.value
                guard panel.joysticks[port].moves == moves else { return }
                panel.joysticks[port].note(switches)
                panel.tell(port)
                counts()
            }
        }
    }

    private static func switches(of commodore: Commodore64, _ port: Int) -> UInt8 {
        (port == 0 ? commodore.joystick1 : commodore.joystick2).rawValue
    }

    private func move(_ port: Int) {
        let joystick = Joystick(rawValue: joysticks[port].switches)
        machine.change { commodore in
            if port == 0 { commodore.joystick1 = joystick } else { commodore.joystick2 = joystick }
        }
        tell(port)
    }

    private func tell(_ port: Int) {
        guard isStandard else { return }
        // A device that cannot receive the value must not keep it from the others, so an error is ignored.
        _ = try? service.send(joysticks[port].switches, to: CommodoreElements.virtualJoysticks[port])
    }
}
