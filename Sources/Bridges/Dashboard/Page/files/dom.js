// Makes elements. Text from the network goes through textContent alone.

const SVG = "http://www.w3.org/2000/svg";
let lastIdentifier = 0;

export const uniqueId = (prefix) => `${prefix}-${++lastIdentifier}`;

// `make("button", { class: "tool", text: "Pause", onclick: f, "aria-pressed": "false" }, child…)`.
export function make(tag, properties = {}, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(properties)) {
		if (value == null || value === false) continue;
		if (name === "class") node.className = value;
		else if (name === "text") node.textContent = value;
		else if (name.startsWith("on")) node[name] = value;
		else node.setAttribute(name, value === true ? "" : value);
	}
	node.append(...children.filter(Boolean));
	return node;
}

const PATHS = {
	chevron: "M5 8l5 5 5-5",
	star: "M10 2.6l2.3 4.7 5.1.7-3.7 3.6.9 5.1-4.6-2.4-4.6 2.4.9-5.1L2.6 8l5.1-.7z",
	up: "M10 15V5M5 10l5-5 5 5",
	down: "M10 5v10M5 10l5 5 5-5",
	left: "M15 10H5M10 5l-5 5 5 5",
	right: "M5 10h10M10 5l5 5-5 5",
};

// A button with a text, or with a drawing and a name: `button("tool", "Pause", act)`.
export const button = (kind, text, act, properties = {}) => make("button", { class: kind, type: "button", text, onclick: act, ...properties });

// `choices` are values and texts; act(value) is called for the one that is chosen.
export const select = (id, label, choices, chosen, act) => make("select", { id, "aria-label": label, onchange: ({ target }) => act(target.value) },
	...choices.map(([value, text]) => make("option", { value, text, selected: value === chosen })));

export const span = (kind, text, ...children) => make("span", { class: kind, text }, ...children);

// A line drawing, hidden from screen readers: what it means is said in text beside it.
export function icon(name) {
	const svg = document.createElementNS(SVG, "svg");
	svg.setAttribute("viewBox", "0 0 20 20");
	svg.setAttribute("aria-hidden", "true");
	svg.setAttribute("class", "icon");
	const path = document.createElementNS(SVG, "path");
	path.setAttribute("d", PATHS[name]);
	svg.append(path);
	return svg;
}

// Sets an element's text where it differs, so that an unchanged one costs no layout.
export function setText(node, text) {
	if (node.textContent !== text) node.textContent = text;
}

// Replaces an element's children if they differ. A focus within stays.
export function setChildren(node, children) {
	if (children.length === node.children.length && children.every((each, index) => each === node.children[index])) return;
	const active = document.activeElement;
	node.replaceChildren(...children);
	if (node.contains(active)) active.focus({ preventScroll: true });
}

// Says something to a screen reader once what it is saying is said.
export function announce(text) {
	const live = document.getElementById("live");
	live.textContent = "";
	live.append(make("p", { text }));
}

// Where a pointer is in a node: to the right and upwards, from 0 to 1.
export function placeIn(node, { clientX, clientY }) {
	const { left, top, width, height } = node.getBoundingClientRect();
	return [(clientX - left) / width, 1 - (clientY - top) / height];
}

// Where a number is between two others, as CSS has it.
export const percent = (number, low, high) => `${Math.min(Math.max((number - low) / (high - low), 0), 1) * 100}%`;

export function save(blob, fileName) {
	const url = URL.createObjectURL(blob);
	make("a", { href: url, download: fileName }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export const asFileName = (text) => text.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80) || "elemental";
