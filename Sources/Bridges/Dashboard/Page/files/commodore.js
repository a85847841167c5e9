// A Commodore: its screen, its keyboard and its joysticks.

import { Control } from "./control.js";
import { icon, make, uniqueId } from "./dom.js";
import { Picture } from "./picture.js";
import { TextControl } from "./text.js";

const COLOURS = [
	"#000000", "#ffffff", "#68372b", "#70a4b2", "#6f3d86", "#588d43", "#352879", "#b8c76f",
	"#6f4f25", "#433900", "#9a6759", "#444444", "#6c6c6c", "#9ad284", "#6c5eb5", "#959595",
];
const LIGHT = new Set([1, 3, 7, 10, 13, 15]);
const LINES = 25;
const JOYSTICK = /^joy(stick)?[ _-]?[12]$/i;
const SCREEN = /screen|picture|display/i;

// What types a line, and what ends it: the keyboard's RETURN.
const KEYBOARDS = { keys: ["Type", "Type on its keyboard", "\n"], print: ["Print", "Print on its screen", ""] };

// Whether a catalogue is a Commodore's, by its names.
export function isCommodore(elements) {
	const names = new Set(elements.map((element) => element.name));
	return [["screen", "keys"], ["border", "background", "print", "joystick1"]].some((some) => some.every((name) => names.has(name)));
}

const isScreen = (element) => element.type === "data" && SCREEN.test(element.name);
const isKeyboard = (element) => element.type === "string" && element.name in KEYBOARDS;
const isJoystick = (element) => element.type === "uint8" && JOYSTICK.test(element.name);

export const belongsToPanel = (element) => isScreen(element) || isKeyboard(element) || isJoystick(element);

// The machine's panel: its picture where it sends one, otherwise what was printed and typed, in its colours.
export class CommodorePanel {
	#lines = [];
	controls = new Map();

	constructor(elements, sender) {
		this.node = make("section", { class: "commodore", "aria-label": "Screen and keyboard" });
		const screen = elements.find(isScreen);
		if (screen) {
			this.picture = new Picture(screen);
			this.pictureId = screen.id;
			this.node.append(this.picture.node);
		} else {
			this.text = make("div", { class: "c64-text", role: "log", "aria-live": "off", "aria-label": "Printed and typed", tabindex: "0" });
			this.screen = make("div", { class: "c64-screen" }, this.text);
			this.node.append(this.screen);
			this.text.append(make("p", { text: "Nothing printed yet." }));
		}
		this.names = new Map(elements.map((element) => [element.id, element.name]));
		for (const name of ["keys", "print"]) {
			const element = elements.find((each) => each.name === name && isKeyboard(each) && each.settable);
			if (element) this.#addKeyboard(element, sender(element));
		}
		const pads = make("div", { class: "joysticks" });
		for (const element of elements.filter(isJoystick)) {
			const joystick = new Joystick(element, sender(element));
			this.controls.set(element.id, joystick);
			pads.append(joystick.node);
		}
		this.node.append(pads);
	}

	receive(id, value, isFirst) {
		const name = this.names.get(id);
		if (name === "border" || name === "background") this.#colour(name, Number(value));
		if (name === "line" && !(isFirst && value === "")) this.#write(`> ${value}`);
		if (name === "said" && value !== "") this.#write(`${this.speaker ? `${this.speaker}: ` : ""}${value}`);
		if (name === "name") this.speaker = value;
	}

	receiveBytes(id, bytes) {
		if (id === this.pictureId) this.picture.receive(bytes);
	}

	remove() {
		this.picture?.remove();
	}

	#addKeyboard(element, send) {
		const keyboard = new TextControl(element, (text) => {
			this.#write(text.trimEnd());
			send(text);
		}, KEYBOARDS[element.name]);
		this.controls.set(element.id, keyboard);
		this.node.append(keyboard.node);
	}

	#write(text) {
		if (!this.text) return;
		this.#lines = [...this.#lines, ...text.split("\n")].slice(-LINES);
		this.text.replaceChildren(...this.#lines.map((line) => make("p", { text: line || "\u00a0" })));
		this.text.scrollTop = this.text.scrollHeight;
	}

	#colour(name, value) {
		if (!this.screen || !(value in COLOURS)) return;
		if (name === "border") this.screen.style.borderColor = COLOURS[value];
		if (name === "background") {
			this.text.style.backgroundColor = COLOURS[value];
			this.text.style.color = LIGHT.has(value) ? "#000000" : "#ffffff";
		}
	}
}

const BITS = [["up", 1], ["left", 4], ["fire", 16], ["right", 8], ["down", 2]];
const KEYS = { ArrowUp: 1, ArrowDown: 2, ArrowLeft: 4, ArrowRight: 8, " ": 16, Enter: 16 };

// A joystick: its five switches, under fingers or the arrow keys and the space bar; shown only where it cannot be set.
class Joystick extends Control {
	#pressed = 0;
	#pointers = new Set();

	constructor(element, send) {
		super(element, send);
		const id = uniqueId("joystick");
		this.node = make("div", { class: "joystick", role: "group", "aria-labelledby": id }, make("span", { id, text: element.name }));
		this.parts = new Map();
		const pad = make("div", { class: "stick" });
		for (const [name, bit] of BITS) {
			const label = `${element.name} ${name}`;
			const part = element.settable
				? make("button", { class: `switch-${name}`, type: "button", "aria-label": label, "aria-pressed": "false" })
				: make("span", { class: `switch-${name}`, role: "img", "aria-label": `${label}: off` });
			if (name !== "fire") part.append(icon(name));
			if (element.settable) this.#follow(part, bit);
			this.parts.set(bit, part);
			pad.append(part);
		}
		this.node.append(pad);
		this.node.classList.toggle("shown", !element.settable);
		if (!element.settable) return;
		pad.onkeydown = (event) => this.#key(event, true);
		pad.onkeyup = (event) => this.#key(event, false);
		this.node.append(this.refusal);
	}

	render(value) {
		this.#pressed = Number(value);
		for (const [bit, part] of this.parts) {
			const isOn = (this.#pressed & bit) !== 0;
			part.classList.toggle("on", isOn);
			if (this.element.settable) part.setAttribute("aria-pressed", isOn);
			else part.setAttribute("aria-label", part.getAttribute("aria-label").replace(/: \w+$/, isOn ? ": on" : ": off"));
		}
	}

	enable(isEnabled) {
		if (this.element.settable) for (const part of this.parts.values()) part.disabled = !isEnabled;
	}

	#press(bits) {
		if (bits === this.#pressed) return;
		this.render(bits);
		this.send(bits, bits ? 0 : undefined);
	}

	#follow(part, bit) {
		part.addEventListener("pointerdown", (event) => {
			if (!this.isEnabled) return;
			part.setPointerCapture(event.pointerId);
			this.#pointers.add(event.pointerId);
			this.#press(this.#pressed | bit);
		});
		for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
			part.addEventListener(name, (event) => {
				if (this.#pointers.delete(event.pointerId)) this.#press(this.#pressed & ~bit);
			});
		}
		part.oncontextmenu = () => false;
	}

	#key(event, isDown) {
		const bit = KEYS[event.key];
		if (!bit || !this.isEnabled) return;
		event.preventDefault();
		if (!event.repeat) this.#press(isDown ? this.#pressed | bit : this.#pressed & ~bit);
	}
}
