"""Publishes a Raspberry Pi's readings: `python examples/publish_pi.py`. Any Linux machine will do."""
import asyncio, os
from elemental import Element, Service

heat = Element(1, "CPU temperature", "float", access="ro", unit="°C")
load = Element(2, "Load", "float", access="ro")

async def main():
    async with Service("machine", [heat, load]) as service:
        while True:
            if os.path.exists("/sys/class/thermal/thermal_zone0/temp"):
                service.set(heat, int(open("/sys/class/thermal/thermal_zone0/temp").read()) / 1000)
            service.set(load, os.getloadavg()[0])
            await asyncio.sleep(1)

asyncio.run(main())
