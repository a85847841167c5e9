import { Control } from "./control.js";
import { button, make, setText, span } from "./dom.js";
import { followHold } from "./hold.js";
import { NumberControl } from "./number.js";
import { TextControl } from "./text.js";
import { isNumber } from "./values.js";
import { FadersControl, PadControl } from "./vector.js";

class ButtonControl extends Control {
	clear() {
		this.render(false);
	}

	enable(isEnabled) {
		this.button.disabled = !isEnabled;
	}
}

class SwitchControl extends ButtonControl {
	constructor(element, send) {
		super(element, send);
		this.button = button("switch", undefined, () => {
			const value = this.button.getAttribute("aria-checked") !== "true";
			this.render(value);
			this.send(value);
		}, { role: "switch", "aria-checked": "false", "aria-label": element.name });
		this.button.append(span("knob"));
		this.describe(this.button);
		this.node.append(this.head(this.unset, this.button), this.refusal);
	}

	render(value) {
		this.button.setAttribute("aria-checked", value === true);
	}
}

// A push button: on while a finger, the space bar or Enter holds it.
class PushControl extends ButtonControl {
	constructor(element, send) {
		super(element, send);
		this.button = button("tool push", element.name, undefined, { "aria-pressed": "false" });
		this.remove = followHold(this.button, (isDown) => {
			if (!this.isEnabled) return;
			this.render(isDown);
			this.send(isDown, isDown ? false : undefined);
		});
		this.describe(this.button);
		this.node.append(this.button, this.refusal);
	}

	render(value) {
		this.button.setAttribute("aria-pressed", value === true);
	}
}

// How long an emergency stop is on before it can be released, in milliseconds: people hit it twice.
const STOP_TIME = 1000;

// An emergency stop: sent with the first touch, and on when the dashboard has told it back; another button, which is not where
// the finger was, releases it.
class UrgentControl extends ButtonControl {
	#waiting = 0;

	constructor(element, send) {
		super(element, send);
		this.button = button("stop", element.name, undefined, { "aria-pressed": "false" });
		this.button.onpointerdown = (event) => event.button === 0 && this.#set(true);
		this.button.onclick = () => this.button.getAttribute("aria-pressed") !== "true" && this.#set(true);
		this.undo = button("tool", "Release", () => this.#set(false), { hidden: true, "aria-label": `Release ${element.name}` });
		this.describe(this.button);
		this.node.append(make("div", { class: "stop-row" }, this.button, this.undo), this.refusal);
	}

	render(value) {
		const isOn = value === true;
		this.button.setAttribute("aria-pressed", isOn);
		setText(this.button, isOn ? `${this.element.name} is on` : this.element.name);
		if (isOn && this.undo.hidden) {
			clearTimeout(this.#waiting);
			this.#waiting = setTimeout(() => {
				this.#waiting = 0;
				this.#enableUndo();
			}, STOP_TIME);
		}
		this.undo.hidden = !isOn;
		this.#enableUndo();
	}

	enable(isEnabled) {
		super.enable(isEnabled);
		this.#enableUndo();
	}

	#enableUndo() {
		this.undo.disabled = !this.isEnabled || this.#waiting !== 0;
	}

	#set(isOn) {
		if (!this.isEnabled) return;
		this.button.setAttribute("aria-pressed", isOn);
		setText(this.button, `${this.element.name}: ${isOn ? "sending" : "releasing"}…`);
		this.send(isOn);
	}
}

class ChoicesControl extends Control {
	constructor(element, send) {
		super(element, send);
		this.options = element.choices.map((choice) => make("option", { text: choice.name }));
		this.other = make("option", { text: "Not set", disabled: true });
		this.select = make("select", { "aria-label": element.name }, this.other, ...this.options);
		this.select.addEventListener("change", () => {
			const choice = element.choices[this.select.selectedIndex - 1];
			this.release("list");
			if (choice) this.send(choice.value);
		});
		this.select.selectedIndex = 0;
		// An open list stays.
		this.select.addEventListener("pointerdown", () => this.isEnabled && this.hold("list"));
		for (const name of ["blur", "keydown"]) this.select.addEventListener(name, () => this.release("list"));
		this.describe(this.select);
		this.node.append(this.head(this.select), this.refusal);
	}

	render(value) {
		const index = this.element.choices.findIndex((choice) => String(choice.value) === String(value));
		if (index < 0) this.other.textContent = String(value);
		this.select.selectedIndex = index + 1;
	}

	enable(isEnabled) {
		this.select.disabled = !isEnabled;
	}
}

// The control of an element; null for types that a page cannot set.
export function makeControl(element, send) {
	if (element.choices) return new ChoicesControl(element, send);
	if (element.kind === "urgent") return new UrgentControl(element, send);
	if (element.kind === "momentary") return new PushControl(element, send);
	if (element.type === "bool") return new SwitchControl(element, send);
	if (element.type === "string") return new TextControl(element, send);
	if (element.type === "float2") return new PadControl(element, send);
	if (element.type === "float3" || element.type === "float4") return new FadersControl(element, send);
	return isNumber(element.type) ? new NumberControl(element, send) : null;
}
