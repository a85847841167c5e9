// Vectors that can be set: a pad for two components, faders for three and four.

import { Control } from "./control.js";
import { make, percent, placeIn, span } from "./dom.js";
import { NumberField, Slider } from "./number.js";
import { axes, inWords, stepOf, toNumber } from "./values.js";

// What vectors share: fields named "NAME x", which set one component of the newest value.
class VectorControl extends Control {
	constructor(element, send) {
		super(element, send);
		this.names = axes(element.type);
		this.component = { ...element, type: "float" };
		this.shownValue = this.names.map(() => undefined);
		this.fields = this.names.map((axis, index) => new NumberField(
			this, this.component, `${element.name} ${axis}`, (value) => this.change(index, value)));
		for (const field of this.fields) field.input.placeholder = "–";
	}

	change(index, value) {
		const changed = this.shownValue.map((each, place) => (place === index ? value : each));
		this.show(changed);
		if (this.knows(changed)) this.send(changed);
	}

	// Whether all components are known, and says so if not: zeros would move what they control.
	knows(value) {
		const isKnown = value.every((each) => Number.isFinite(toNumber(each)));
		if (!isKnown) this.tell("Set the other components too: their values are not known.");
		return isKnown;
	}

	render(value) {
		this.show(value);
	}

	show(value) {
		this.shownValue = value;
		this.fields.forEach((field, index) => field.render(value[index]));
	}

	enable(isEnabled) {
		for (const field of this.fields) field.enable(isEnabled);
	}
}

export class FadersControl extends VectorControl {
	constructor(element, send) {
		super(element, send);
		this.node.append(this.head(this.unset, element.unit && span("unit", element.unit)));
		this.sliders = this.names.map((axis, index) => new Slider(
			this, this.component, `${element.name} ${axis}`, (value) => this.change(index, value)));
		const rows = this.names.map((axis, index) => make("div", { class: "fader" },
			span("axis", axis), this.sliders[index].input, this.fields[index].input));
		this.node.append(make("div", { class: "faders", role: "group", "aria-label": element.name }, ...rows), this.refusal);
		this.describe(...this.sliders.map((slider) => slider.input));
	}

	show(value) {
		super.show(value);
		this.sliders.forEach((slider, index) => slider.render(value[index]));
	}

	enable(isEnabled) {
		super.enable(isEnabled);
		for (const slider of this.sliders) slider.input.disabled = !isEnabled;
	}
}

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// Two components: a pad under a finger or the arrow keys, x to the right and y upwards.
export class PadControl extends VectorControl {
	constructor(element, send) {
		super(element, send);
		this.limit = element.range ?? [-1, 1];
		this.dot = span("dot");
		this.pad = make("div", {
			class: "pad", role: "slider", tabindex: "0", "aria-label": element.name, "aria-roledescription": "pad of two axes",
			"aria-valuemin": this.limit[0], "aria-valuemax": this.limit[1], "aria-valuenow": 0,
		}, span("cross"), this.dot);
		this.describe(this.pad);
		this.holdPointer(this.pad);
		this.pad.onpointerdown = (event) => {
			if (!this.isEnabled || event.button !== 0) return;
			this.pad.setPointerCapture(event.pointerId);
			this.#follow(event);
		};
		this.pad.onpointermove = (event) => {
			if (this.isEnabled && this.pad.hasPointerCapture(event.pointerId)) this.#follow(event);
		};
		this.pad.onkeydown = (event) => this.#key(event);
		const fields = this.names.map((axis, index) => make("label", { class: "field" },
			span("axis", axis), this.fields[index].input,
			element.unit && span("unit", element.unit)));
		this.node.append(this.head(this.unset), make("div", { class: "pad-row" }, this.pad, make("div", { class: "pad-fields" }, ...fields)), this.refusal);
		this.show(this.shownValue);
	}

	show(value) {
		super.show(value);
		const numbers = value.map((each) => toNumber(each) || 0);
		if (!this.element.range) while (Math.max(...numbers.map(Math.abs)) > this.limit[1]) this.limit = this.limit.map((each) => each * 2);
		const [low, high] = this.limit;
		this.dot.style.setProperty("--x", percent(numbers[0], low, high));
		this.dot.style.setProperty("--y", percent(numbers[1], low, high));
		this.pad.setAttribute("aria-valuenow", numbers[0]);
		this.pad.setAttribute("aria-valuetext", inWords(this.element, value[0] === undefined ? undefined : value));
	}

	enable(isEnabled) {
		super.enable(isEnabled);
		this.pad.tabIndex = isEnabled ? 0 : -1;
		this.pad.setAttribute("aria-disabled", !isEnabled);
	}

	#follow(event) {
		const [low, high] = this.limit;
		this.#set(placeIn(this.pad, event).map((part) => low + part * (high - low)));
	}

	#key(event) {
		const direction = KEYS[event.key];
		if (!direction || !this.isEnabled) return;
		event.preventDefault();
		if (!this.knows(this.shownValue)) return;
		const step = stepOf(this.component, ...this.limit) * (event.shiftKey ? 10 : 1);
		this.#set(this.shownValue.map((each, index) => toNumber(each) + direction[index] * step));
	}

	#set(value) {
		const [low, high] = this.limit;
		const { step } = this.element;
		const rounded = value.map((each) => {
			const stepped = step ? low + Math.round((each - low) / step) * step : each;
			return Number(Math.min(Math.max(stepped, low), high).toPrecision(step ? 12 : 5));
		});
		this.show(rounded);
		this.send(rounded);
	}
}
