"""Pictures of the page with this machine's readings; see the script `screenshots`."""

import argparse
import base64
import os
import sys
import threading
import time

from playwright.sync_api import expect

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from pages import Browser, choose, reading
from waits import Bed

THERMOMETER = "/sys/class/thermal/thermal_zone0/temp"
READINGS = [
    "1:CPU load:double:unit %:ro:udp:latest", "2:CPU temperature:double:unit °C:ro:latest", "3:Memory used:uint64:unit B:ro:latest",
    "4:Load 1 min:double:ro:latest", "5:Network receive rate:double:unit B/s:ro:latest",
    "6:Sampling interval:double:0.05...60:step 0.05:unit s=0.5",
]
LAMP = [
    "1:Light:bool=on", "2:Brightness:float:0...100:unit %:latest=64", "3:Mode:uint8:choices 0 steady,1 candle,2 sunrise=1",
    "4:Aim:float2:udp:latest=0.35,0.4",
]


def lines_of(path):
    with open(path) as file:
        return file.read().splitlines()


def busy_and_all():
    numbers = [int(word) for word in lines_of("/proc/stat")[0].split()[1:]]
    return sum(numbers) - numbers[3] - numbers[4], sum(numbers)


def received():
    return sum(int(line.split(":")[1].split()[0]) for line in lines_of("/proc/net/dev")[2:])


def feed(process, ended):
    """Writes this machine's readings to a service until told to end."""
    before, bytes_before, time_before = busy_and_all(), received(), time.monotonic()
    while not ended.wait(0.25):
        now, bytes_now, time_now = busy_and_all(), received(), time.monotonic()
        share = 100 * (now[0] - before[0]) / max(now[1] - before[1], 1)
        rate = (bytes_now - bytes_before) / (time_now - time_before)
        before, bytes_before, time_before = now, bytes_now, time_now
        memory = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines_of("/proc/meminfo")}
        process.write(f"CPU load={share:.2f}")
        process.write(f"Memory used={memory['MemTotal'] - memory['MemAvailable']}")
        process.write(f"Load 1 min={lines_of('/proc/loadavg')[0].split()[0]}")
        process.write(f"Network receive rate={rate:.0f}")
        if os.path.exists(THERMOMETER):
            process.write(f"CPU temperature={int(lines_of(THERMOMETER)[0]) / 1000}")


def publish(bed, service, name, elements, state):
    words = [word for element in elements for word in ("--element", element)]
    process = bed.start("publish", service, *words, "--name", name, "--security", "open", "--address", "127.0.0.1", "--stay", "--json",
                        state=state)
    process.event("published")
    return process


def main():
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--elemental")
    parser.add_argument("--monitor")
    parser.add_argument("--page")
    parser.add_argument("--seconds", type=float, default=62)
    arguments = parser.parse_args()
    built = [os.path.join(root, ".build", each, "elemental") for each in ("release", "debug")]
    elemental = arguments.elemental or next((path for path in built if os.path.exists(path)), None)
    if elemental is None:
        raise SystemExit("screenshots: there is no elemental in .build; build it or give --elemental PATH")
    os.makedirs(arguments.folder, exist_ok=True)
    ended = threading.Event()
    host = os.uname().nodename
    with Bed(elemental) as bed, Browser(arguments.page) as browser:
        try:
            if arguments.monitor:
                bed.program(arguments.monitor, "--name", host, "--interval", "0.25", "--address", "127.0.0.1", state="monitor")
            else:
                here = [each for each in READINGS if "temperature" not in each or os.path.exists(THERMOMETER)]
                machine = publish(bed, "system_monitor", host, here, "monitor")
                threading.Thread(target=feed, args=(machine, ended), daemon=True).start()
            publish(bed, "lamp", "Desk lamp", LAMP, "lamp")
            take(bed.dashboard(), browser, host, arguments)
        finally:
            ended.set()


def take(dashboard, browser, host, arguments):
    desktop = browser.open(dashboard.url, {"viewport": {"width": 1250, "height": 830}}, color_scheme="light")
    phone = browser.open(dashboard.url, {"viewport": {"width": 390, "height": 830}, "has_touch": True, "is_mobile": True}, color_scheme="dark")
    for page in (desktop, phone):
        expect(reading(choose(page, host), "CPU load")).not_to_have_text("—")
    phone.get_by_role("button", name="Plot of CPU load").click()
    begin = time.monotonic()
    while time.monotonic() - begin < arguments.seconds:
        phone.wait_for_timeout(250)
    desktop.evaluate("scrollTo(0, 0)")
    phone.evaluate("scrollTo(0, 0)")
    for page in (desktop, phone):
        page.evaluate("document.activeElement.blur()")
    pictures = {}
    for name, page in (("desktop", desktop), ("phone", phone)):
        pictures[name] = page.screenshot(path=os.path.join(arguments.folder, f"{name}.png"))
    together(browser, pictures, os.path.join(arguments.folder, "dashboard.png"))
    for name in ("desktop", "phone", "dashboard"):
        path = os.path.join(arguments.folder, f"{name}.png")
        print(f"{path}: {os.path.getsize(path) // 1000} kB")


def together(browser, pictures, path):
    """The phone beside the desktop, in one picture."""
    image = lambda name: f'<img class="{name}" src="data:image/png;base64,{base64.b64encode(pictures[name]).decode()}">'
    page = browser.context({"viewport": {"width": 1280, "height": 660}}).new_page()
    page.set_content(f"""<style>body {{ margin: 0; padding: 20px; display: flex; gap: 20px; align-items: end; justify-content: center; }}
        img {{ height: 620px; box-sizing: border-box; border-radius: 14px; border: 1px solid #8889; }}
        .phone {{ border: 7px solid #22252d; border-radius: 30px; }}</style>{image("desktop")}{image("phone")}""")
    page.screenshot(path=path, omit_background=True)


if __name__ == "__main__":
    main()
