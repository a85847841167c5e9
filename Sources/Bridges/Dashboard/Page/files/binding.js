// What a source moves: an element of a service, and how the source's axes become its value.

import { axes, isNumber, isWhole, toNumber } from "./values.js";

// Whether a source can move an element.
export function fits(source, element) {
	if (!element.settable || element.choices) return false;
	if (source.isButton) return element.type === "bool";
	return isNumber(element.type) || axes(element.type) !== undefined;
}

export class Binding {
	// The settings as they are kept: the service's identifier, the element's name, for each component an axis (its number, or
	// -1 for none) and whether it is turned round, the limits, the dead zone and the smoothing, both 0 to 1, and whether it rests.
	static make(source, service, element) {
		const count = axes(element.type)?.length ?? 1;
		const [low, high] = element.range?.map(toNumber) ?? (source.isCentred ? [-1, 1] : [0, 1]);
		return {
			source: source.id, service, element: element.name, low, high, dead: source.isCentred ? 0.05 : 0, smooth: 0, rests: source.isCentred || element.kind === "momentary",
			parts: Array.from({ length: count }, (_, index) => ({ axis: index < source.axes.length ? index : -1, isTurned: false })),
		};
	}

	// The service's number and the element, which are others when the service has come back.
	key = null;
	element = null;
	isHeld = false;
	isTaken = false;
	isResting = false;
	// Why its last value was refused; null if it was not.
	problem = null;
	#smoothed = null;

	constructor(source, settings) {
		this.source = source;
		this.settings = settings;
	}

	get rest() {
		if (!this.settings.rests) return null;
		return this.source.isButton ? false : this.#valueOf(this.settings.parts.map(() => 0));
	}

	// What the source would tell where the element has this value; undefined where that cannot be said.
	first(value) {
		if (value === undefined || this.source.isCentred || this.settings.parts.length > 1) return undefined;
		if (this.source.isButton) return value === true ? 1 : 0;
		const { low, high } = this.settings;
		const part = (toNumber(value) - low) / (high - low);
		return part >= 0 && part <= 1 ? (this.settings.parts[0].isTurned ? 1 - part : part) : undefined;
	}

	// The element's value for the source's.
	value(told) {
		if (told === undefined) {
			this.#smoothed = null;
			return this.rest ?? undefined;
		}
		if (this.source.isButton) return told[0] > 0.5;
		const { parts, dead, smooth } = this.settings;
		const wanted = parts.map(({ axis, isTurned }) => {
			const part = axis < 0 ? 0 : told[axis] ?? 0;
			const beyond = Math.max(Math.abs(part) - dead, 0) / (1 - dead) * Math.sign(part);
			return isTurned ? (this.source.isCentred ? -beyond : 1 - beyond) : beyond;
		});
		this.#smoothed = this.#smoothed ? this.#smoothed.map((each, index) => each * smooth + wanted[index] * (1 - smooth)) : wanted;
		return this.#valueOf(this.#smoothed);
	}

	#valueOf(parts) {
		const { low, high } = this.settings;
		const values = parts.map((part) => {
			const value = low + (this.source.isCentred ? (part + 1) / 2 : part) * (high - low);
			return isWhole(this.element.type) ? Math.round(value) : Number(value.toPrecision(7));
		});
		return axes(this.element.type) ? values : values[0];
	}
}
