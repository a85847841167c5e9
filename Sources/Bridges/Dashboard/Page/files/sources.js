// What a phone in a hand tells: how it is held and moved, fingers, and what is on the screen. A source has `axes`, each from
// -1 to 1 (or from 0 to 1 where it is not `isCentred`), and calls `tell(values)`; undefined where a finger was lifted. What
// `start(tell, title, first)` returns is shown; `first` is the element's value as the source would tell it, if it is known.

import { button, make, percent, placeIn, span } from "./dom.js";
import { nextFrame } from "./frame.js";
import { followHold } from "./hold.js";

// What is moved, and its value.
const head = (title) => span("play-head", undefined, span("", title), make("b"));
const clamp = (value) => Math.min(Math.max(value, -1), 1);

// The page gets the sensors only where nobody can listen, and some phones ask the person first.
export const hasSensors = () => window.isSecureContext && "DeviceMotionEvent" in window;

export async function askForSensors() {
	for (const kind of [window.DeviceMotionEvent, window.DeviceOrientationEvent]) {
		if (kind?.requestPermission && await kind.requestPermission() !== "granted") return false;
	}
	return true;
}

class Sensor {
	isCentred = true;
	isSensor = true;

	// `read(event)` returns the values of a sensor's event, or null where it tells none.
	constructor(id, name, text, axes, event, read) {
		Object.assign(this, { id, name, text, axes, event, read });
	}

	start(tell, title) {
		const bars = this.axes.map(() => span("fill"));
		let values = null;
		const show = () => bars.forEach((bar, index) => bar.style.setProperty("--at", values[index]));
		this.listener = (event) => {
			const read = this.read(event);
			if (!read) return;
			values = read.map(clamp);
			tell(values);
			nextFrame(show);
		};
		window.addEventListener(this.event, this.listener);
		return make("div", { class: "play-row" }, head(title), ...bars.map((bar, index) => span("bar", undefined, bar, span("axis", this.axes[index]))));
	}

	stop() {
		window.removeEventListener(this.event, this.listener);
	}
}

// A field for fingers, the first and the second.
class Pad {
	isCentred = true;
	axes = ["to the right", "up"];
	#fingers;

	constructor(id, name, text, count) {
		Object.assign(this, { id, name, text, count });
	}

	start(tell) {
		const dots = Array.from({ length: this.count }, () => span("dot"));
		this.#fingers = dots.map(() => undefined);
		this.node = make("div", { class: "play-pad", role: "img", "aria-label": this.name }, span("cross"), ...dots);
		for (const dot of dots) dot.hidden = true;
		const place = (event) => {
			const index = this.#fingers.indexOf(event.pointerId);
			if (index < 0) return;
			const [x, y] = placeIn(this.node, event).map((part) => clamp(part * 2 - 1));
			dots[index].style.setProperty("--x", percent(x, -1, 1));
			dots[index].style.setProperty("--y", percent(y, -1, 1));
			// The last finger that this source follows is the one that it tells.
			if (index === this.count - 1) tell([x, y]);
		};
		this.node.onpointerdown = (event) => {
			event.preventDefault();
			const free = this.#fingers.indexOf(undefined);
			if (free < 0) return;
			this.#fingers[free] = event.pointerId;
			this.node.setPointerCapture(event.pointerId);
			dots[free].hidden = false;
			place(event);
		};
		// Faster than frames, where the browser has that.
		this.node.addEventListener("onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove", place);
		for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
			this.node.addEventListener(name, (event) => {
				const index = this.#fingers.indexOf(event.pointerId);
				if (index < 0) return;
				this.#fingers[index] = undefined;
				dots[index].hidden = true;
				if (index === this.count - 1) tell(undefined);
			});
		}
		return this.node;
	}
}

class Fader {
	isCentred = false;
	axes = ["value"];

	constructor(id, name) {
		Object.assign(this, { id, name, text: "A large slider on the screen." });
	}

	start(tell, title, first) {
		const input = make("input", { class: "slider play-slider", type: "range", min: 0, max: 1, step: 0.001, value: first ?? 0, "aria-label": title });
		const node = make("label", { class: "play-row" }, head(title), input);
		const dress = () => input.style.setProperty("--part", `${input.value * 100}%`);
		node.classList.toggle("unset", first === undefined);
		dress();
		input.oninput = () => {
			node.classList.remove("unset");
			dress();
			tell([Number(input.value)]);
		};
		return node;
	}
}

class Key {
	isCentred = false;
	isButton = true;
	axes = ["pressed"];

	constructor(id, name) {
		Object.assign(this, { id, name, text: "A large button. Hold it for a push button, tap it for anything else." });
	}

	start(tell, title, first, isHeld) {
		const node = button("tool push play-button", undefined, undefined, { "aria-pressed": String(first === 1) });
		node.append(span("", title), span("quiet", isHeld ? " · hold" : " · on and off"));
		const press = (isDown) => {
			node.setAttribute("aria-pressed", isDown);
			tell([isDown ? 1 : 0]);
		};
		if (isHeld) this.stop = followHold(node, press);
		else node.onclick = () => press(node.getAttribute("aria-pressed") !== "true");
		return node;
	}
}

const GRAVITY = 9.81;

export function makeSources() {
	const sensors = [
		new Sensor("tilt", "Tilt", "How you hold the device. Full at 45°.", ["to the right", "backwards"], "deviceorientation",
			({ beta, gamma }) => (beta === null ? null : [gamma / 45, beta / 45])),
		new Sensor("turning", "Turning", "How fast you turn the device. Full at one turn a second.", ["around its face", "around its width", "around its length"], "devicemotion",
			({ rotationRate: rate }) => (rate?.alpha == null ? null : [rate.alpha / 360, rate.beta / 360, rate.gamma / 360])),
		new Sensor("motion", "Motion", "How you move the device, gravity included. Full at 2 g.", ["to the right", "up", "out of its face"], "devicemotion",
			({ accelerationIncludingGravity: force }) => (force?.x == null ? null : [force.x, force.y, force.z].map((part) => part / GRAVITY / 2))),
	];
	const others = [
		new Pad("pad", "Touch pad", "A finger on the screen. It springs back when you lift it.", 1),
		new Pad("pad2", "Touch pad, second finger", "The second finger on a pad of its own.", 2),
		new Fader("slider1", "Slider 1"), new Fader("slider2", "Slider 2"), new Key("button1", "Button 1"), new Key("button2", "Button 2"),
	];
	// Few computers have sensors.
	return window.matchMedia("(any-pointer: coarse)").matches ? [...sensors, ...others] : [...others, ...sensors];
}
