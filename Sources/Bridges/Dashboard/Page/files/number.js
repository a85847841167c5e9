// Numbers that can be set: a field, and a slider where the range is known.

import { Control } from "./control.js";
import { make, percent, span } from "./dom.js";
import { exact, isLong, isWhole, limits, parse, shown, stepOf, toNumber } from "./values.js";

// A field for a number: typed and sent with Enter or when it is left, or moved by the arrow keys.
export class NumberField {
	#typed = false;
	#value;

	// `owner` is a Control; `element` may be one of a vector's components; `send(value)` sends a number.
	constructor(owner, element, name, send) {
		this.owner = owner;
		this.element = element;
		const [low, high] = element.range ?? [];
		const canBeNegative = low === undefined ? !element.type.startsWith("uint") : low < 0;
		this.input = make("input", {
			class: isLong(element.type) ? "number long" : "number", type: "text", placeholder: "Not set", role: "spinbutton", "aria-label": name, autocomplete: "off", spellcheck: "false",
			// The keypads for numbers have no minus on some phones.
			inputmode: canBeNegative ? "text" : isWhole(element.type) ? "numeric" : "decimal",
			"aria-valuemin": low, "aria-valuemax": high,
		});
		const commit = () => {
			if (!this.#typed) return;
			this.#typed = false;
			try {
				const value = parse(this.input.value, element);
				this.#value = value;
				send(value);
			} catch (error) {
				owner.tell(error.message);
			}
			owner.release(this);
			this.#write();
		};
		this.input.oninput = () => {
			this.#typed = true;
			owner.hold(this);
		};
		this.input.onchange = this.input.onblur = commit;
		this.input.onkeydown = (event) => {
			const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
			if (event.key === "Enter") commit();
			if (event.key !== "Escape" && !direction) return;
			this.#typed = false;
			owner.release(this);
			this.#write();
			if (!direction) return;
			event.preventDefault();
			const value = this.#moved(direction);
			this.render(value);
			send(value);
		};
	}

	render(value) {
		this.#value = value;
		if (!this.#typed) this.#write();
	}

	enable(isEnabled) {
		this.#typed = false;
		this.#write();
		this.input.disabled = !isEnabled;
	}

	#write() {
		const value = this.#value;
		const text = value == null ? "" : exact(value, this.element.type);
		if (this.input.value !== text) this.input.value = text;
		this.input.setAttribute("aria-valuenow", text || "0");
		this.input.setAttribute("aria-valuetext", text ? `${text} ${this.element.unit ?? ""}`.trim() : "no value yet");
	}

	#moved(direction) {
		const { element } = this;
		const { type, range: [low, high] = [-Infinity, Infinity] } = element;
		if (isLong(type)) {
			const [least, most] = limits(type);
			const moved = BigInt(this.#value ?? 0) + BigInt(direction * Math.max(1, Math.round(element.step ?? 1)));
			return String(moved < least || moved < low || moved > most || moved > high ? this.#value ?? 0 : moved);
		}
		const step = element.range || element.step || isWhole(type) ? stepOf(element, low, high) : 0.1;
		const value = Number(((Number(toNumber(this.#value)) || 0) + direction * step).toPrecision(12));
		return Math.min(Math.max(value, low), high);
	}
}

// A slider over a range. Where none is known it is -1 to 1, and grows with the value.
export class Slider {
	constructor(owner, element, name, send) {
		this.element = element;
		const [low, high] = element.range ?? [-1, 1];
		this.input = make("input", { class: "slider", type: "range", "aria-label": name, min: low, max: high });
		this.input.step = stepOf(element, low, high);
		// Unset it stands at zero, or as near as the range is to it.
		this.input.value = Math.min(Math.max(0, low), high);
		owner.holdPointer(this.input);
		this.input.oninput = () => {
			const value = Number(Number(this.input.value).toPrecision(12));
			this.#dress(value);
			send(isLong(element.type) ? String(Math.round(value)) : value);
		};
		this.#dress(this.input.value);
		this.input.setAttribute("aria-valuetext", "not set");
	}

	render(value) {
		const number = toNumber(value);
		if (!Number.isFinite(number)) return;
		if (!this.element.range && Math.abs(number) > this.input.max) {
			const limit = 2 ** Math.ceil(Math.log2(Math.abs(number)));
			Object.assign(this.input, { max: limit, min: -limit, step: stepOf(this.element, -limit, limit) });
		}
		this.input.value = number;
		this.#dress(number);
	}

	#dress(number) {
		const { min, max } = this.input;
		// Filled from zero, where zero is between the ends.
		const zero = Math.min(Math.max(0, min), max);
		this.input.style.setProperty("--from", percent(Math.min(number, zero), min, max));
		this.input.style.setProperty("--part", percent(Math.max(number, zero), min, max));
		this.input.setAttribute("aria-valuetext", shown(number, this.element.type, this.element.unit).join(" ").trim());
	}
}

export class NumberControl extends Control {
	constructor(element, send) {
		super(element, send);
		const part = (value) => {
			this.field.render(value);
			this.slider?.render(value);
			this.send(value);
		};
		this.field = new NumberField(this, element, element.name, part);
		this.node.append(this.head(span("field", undefined, this.field.input, element.unit && span("unit", element.unit))));
		// A range beyond what a JavaScript number holds has no slider.
		if (element.range?.every((limit) => Math.abs(limit) <= 2 ** 53)) {
			this.slider = new Slider(this, element, element.name, part);
			this.node.append(this.slider.input);
		}
		this.node.append(this.refusal);
		this.describe(this.field.input, ...(this.slider ? [this.slider.input] : []));
	}

	render(value) {
		this.field.render(value);
		this.slider?.render(value);
	}

	enable(isEnabled) {
		this.field.enable(isEnabled);
		if (this.slider) this.slider.input.disabled = !isEnabled;
	}
}
