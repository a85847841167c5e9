import { Control } from "./control.js";
import { make } from "./dom.js";

// A field whose text goes with Enter or a button.
export class TextControl extends Control {
	// A keyboard, as [its button's text, a hint, what ends a line], has no name beside it and is empty after each line.
	constructor(element, send, keyboard = null) {
		super(element, send);
		this.input = make("input", {
			type: "text", "aria-label": element.name, autocomplete: "off", autocapitalize: "none", spellcheck: "false",
			enterkeyhint: "send", placeholder: keyboard?.[1] ?? "Not set",
		});
		this.button = make("button", { class: "tool", type: "submit", text: keyboard?.[0] ?? "Set", "aria-label": !keyboard && `Set ${element.name}` });
		this.input.oninput = () => this.hold("typing");
		this.input.onkeydown = (event) => {
			if (event.key === "Escape") this.release("typing");
		};
		this.input.onblur = () => this.input.value === this.value && this.release("typing");
		const form = make("form", { class: "text-form" }, this.input, this.button);
		form.onsubmit = (event) => {
			event.preventDefault();
			const text = this.input.value;
			this.release("typing");
			this.send(keyboard ? text + keyboard[2] : text);
			if (keyboard) this.input.value = "";
		};
		this.describe(this.input);
		this.keyboard = keyboard;
		this.node.append(keyboard ? "" : this.head(), form, this.refusal);
	}

	render(value) {
		if (this.keyboard) return;
		// An empty text is a value.
		this.input.placeholder = "";
		if (this.input.value !== value) this.input.value = value;
	}

	enable(isEnabled) {
		this.input.disabled = this.button.disabled = !isEnabled;
	}
}
