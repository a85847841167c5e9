import { announce, make, setText, span, uniqueId } from "./dom.js";
import { nextFrame } from "./frame.js";
import { isSame } from "./values.js";

// How long a value that was sent is shown although the service has not told it back yet.
const SETTLING = 1000;
const REFUSAL_TIME = 12_000;

/**
 * A control: `node`, and what subclasses do with values. While it is held (a finger is on it, or something is being
 * typed) what the service tells waits; afterwards the newest is shown.
 */
export class Control {
	isEnabled = true;
	#held = new Set();
	#sent;
	#settling = 0;
	#newest;
	#received;
	#isTold = false;
	#refusalTime = 0;
	#render = () => this.#show();

	// `send(value)` sends to the service.
	constructor(element, send) {
		this.element = element;
		this.sendValue = send;
		this.refusal = make("p", { class: "refusal", id: uniqueId("refusal"), hidden: true });
		// Unset, a control shows no value: zero would be one.
		this.unset = span("unset-note", "Not set");
		this.node = make("div", { class: "element control unset", "data-type": element.type });
	}

	render() {}
	// Shows that there is no value.
	clear() {}
	enable() {}

	describe(...parts) {
		for (const part of parts) part.setAttribute("aria-describedby", this.refusal.id);
	}

	head(...atEnd) {
		return make("div", { class: "head" }, nameOf(this.element), ...atEnd);
	}

	setEnabled(isEnabled) {
		if (this.isEnabled === isEnabled) return;
		this.isEnabled = isEnabled;
		if (!isEnabled) {
			for (const reason of this.#held) if (reason !== "typing") this.#held.delete(reason);
			this.#settle();
		}
		this.enable(isEnabled);
	}

	hold(reason) {
		this.#held.add(reason);
	}

	release(reason) {
		if (this.#held.delete(reason)) nextFrame(this.#render);
	}

	get isHeld() {
		return this.#held.size > 0;
	}

	// Releases when the pointer goes up anywhere, or is taken away.
	holdPointer(node) {
		node.addEventListener("pointerdown", () => {
			if (!this.isEnabled) return;
			this.hold("pointer");
			const ended = new AbortController();
			for (const name of ["pointerup", "pointercancel", "blur"]) {
				window.addEventListener(name, () => {
					ended.abort();
					this.release("pointer");
				}, { signal: ended.signal });
			}
		});
	}

	// `rest` is what it is set to if the page closes before it sets it anew.
	send(value, rest) {
		this.tell("");
		this.#sent = value;
		this.#isTold = false;
		clearTimeout(this.#settling);
		this.#settling = setTimeout(() => this.#settle(), SETTLING);
		this.sendValue(value, rest);
		this.#newest = value;
		this.#isSet(true);
	}

	receive(value) {
		this.#newest = this.#received = value;
		this.#isTold = true;
		this.#isSet(true);
		if (this.#sent !== undefined && isSame(this.element, value, this.#sent)) {
			this.#sent = undefined;
			clearTimeout(this.#settling);
		}
		nextFrame(this.#render);
	}

	refuse(why) {
		this.#sent = undefined;
		this.#newest = this.#received;
		this.#isSet(this.#newest !== undefined);
		if (this.#newest === undefined) this.clear();
		clearTimeout(this.#settling);
		this.tell(why);
		announce(`${this.element.name}: ${why}`);
		nextFrame(this.#render);
	}

	// Shows a sentence at the control; an empty one hides it.
	tell(text) {
		setText(this.refusal, text);
		this.refusal.hidden = text === "";
		this.node.classList.toggle("refused", text !== "");
		clearTimeout(this.#refusalTime);
		if (text) this.#refusalTime = setTimeout(() => this.tell(""), REFUSAL_TIME);
	}

	#isSet(isSet) {
		this.unset.hidden = isSet;
		this.node.classList.toggle("unset", !isSet);
	}

	get value() {
		return this.#newest;
	}

	#settle() {
		this.#sent = undefined;
		clearTimeout(this.#settling);
		if (this.#isTold) nextFrame(this.#render);
	}

	#show() {
		if (this.isHeld || this.#sent !== undefined || this.#newest === undefined) return;
		this.render(this.#newest);
	}
}

export const nameOf = (element) => span("name", element.name);

