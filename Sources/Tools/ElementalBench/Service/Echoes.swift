import Elemental

/// A bench service's echoes by handlers: each message goes back to the device that sent it, on the event loop.
enum Echoes {
    static func attach(to service: ElementalService) {
        for echo in [BenchElements.echo, BenchElements.echoDatagram] {
            attach(echo.number, to: service)
            attach(echo.data, to: service)
        }
    }

    private static func attach<Value>(_ element: Element<Value>, to service: ElementalService) {
        service.onValue(of: element) { value, device in
            do throws(ElementalError) {
                try device.send(value, to: element)
            } catch {
                guard error.code == .queueFull else { return }
                // A handler cannot wait. Later answers may overtake it, which does not matter because all are numbered.
                Task { try? await device.sendWhenReady(value, to: element) }
            }
        }
    }
}
