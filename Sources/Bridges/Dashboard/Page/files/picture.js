// Data: a picture where it is one, otherwise its size and first bytes.

import { make, setText } from "./dom.js";
import { nextFrame } from "./frame.js";
import { hexPrefix, sizeText } from "./values.js";

const STARTS = [
	["image/png", [0x89, 0x50, 0x4e, 0x47]], ["image/jpeg", [0xff, 0xd8, 0xff]],
	["image/gif", [0x47, 0x49, 0x46, 0x38]], ["image/bmp", [0x42, 0x4d]],
];

function pictureType(bytes) {
	for (const [type, start] of STARTS) if (start.every((byte, index) => bytes[index] === byte)) return type;
	const text = String.fromCharCode(...bytes.subarray(0, 12));
	return text.startsWith("RIFF") && text.endsWith("WEBP") ? "image/webp" : null;
}

// Shows bytes; the newest when the picture before it is drawn.
export class Picture {
	#bytes = null;
	#url = null;
	#isLoading = false;
	#paint = () => this.#show();

	constructor(element) {
		this.element = element;
		this.image = make("img", { class: "picture", alt: `${element.name}: a picture`, hidden: true });
		this.text = make("p", { class: "hex", text: "No data yet" });
		this.node = make("div", {}, this.image, this.text);
		this.image.onload = () => this.#loaded();
		this.image.onerror = () => {
			this.#loaded();
			this.#say("A picture that this browser cannot show");
		};
	}

	receive(bytes) {
		this.#bytes = bytes;
		nextFrame(this.#paint);
	}

	// Shows a text instead.
	tell(text) {
		this.#bytes = null;
		this.#say(text);
	}

	#say(text) {
		this.image.hidden = true;
		this.text.hidden = false;
		setText(this.text, text);
	}

	remove() {
		if (this.#url) URL.revokeObjectURL(this.#url);
		this.#url = null;
	}

	#show() {
		const bytes = this.#bytes;
		if (!bytes || this.#isLoading) return;
		this.#bytes = null;
		const type = pictureType(bytes);
		if (type === null) return this.#say(bytes.length === 0 ? "Empty" : `${sizeText(bytes.length)}: ${hexPrefix(bytes)}`);
		this.image.hidden = false;
		this.text.hidden = true;
		const old = this.#url;
		this.#url = URL.createObjectURL(new Blob([bytes], { type }));
		this.#isLoading = true;
		this.image.src = this.#url;
		if (old) URL.revokeObjectURL(old);
	}

	#loaded() {
		this.#isLoading = false;
		if (this.#bytes) nextFrame(this.#paint);
	}
}
