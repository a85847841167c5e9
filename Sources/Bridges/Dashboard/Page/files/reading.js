// What cannot be set here: a value with its unit, and a plot of its last minute.

import { nameOf } from "./control.js";
import { button, icon, make, setText, span, uniqueId } from "./dom.js";
import { nextFrame } from "./frame.js";
import { Picture } from "./picture.js";
import { Plot } from "./plot.js";
import { isPlotted } from "./store.js";
import { axes, choiceName, exact, inWords, isNumber, shown, toNumber } from "./values.js";

export class Reading {
	#value;
	#render = () => this.#show();

	constructor(element, service, clock) {
		this.element = element;
		this.decimals = service.decimals(element);
		this.node = make("div", { class: "element reading", "data-type": element.type });
		const name = nameOf(element);
		if (element.type === "data") {
			this.picture = new Picture(element);
			this.node.append(make("div", { class: "head" }, name), this.picture.node);
			return;
		}
		if (element.type === "float4x4") {
			this.cells = Array.from({ length: 16 }, () => make("td", { text: "—" }));
			const rows = [0, 1, 2, 3].map((row) => make("tr", {}, ...this.cells.slice(row * 4, row * 4 + 4)));
			this.node.append(make("div", { class: "head" }, name), make("table", { "aria-label": element.name }, make("tbody", {}, ...rows)));
			return;
		}
		this.text = span("value", "—");
		this.unit = span("unit");
		const amount = span("amount");
		if (axes(element.type)) {
			amount.classList.add("vector");
			this.parts = axes(element.type).map((axis, index) => {
				const part = span("value", "—");
				amount.append(span(`part line-${index + 1}`, undefined, span("axis", axis), part));
				return part;
			});
		} else {
			amount.append(this.text);
		}
		amount.append(this.unit);
		if (!isPlotted(element)) {
			if (element.type === "string") this.text.classList.add("words");
			this.node.append(make("div", { class: "head" }, name, amount));
			return;
		}
		this.#plot(name, amount, service.series(element), clock);
	}

	receive(value) {
		this.#value = value;
		nextFrame(this.#render);
	}

	receiveBytes(bytes) {
		this.picture?.receive(bytes);
	}

	remove() {
		this.plot?.remove();
		this.picture?.remove();
	}

	// The plot is small until its head is tapped; then it has axes and tools.
	#plot(name, amount, series, clock) {
		const { element } = this;
		const names = axes(element.type)?.map((axis) => `${element.name} ${axis}`) ?? [element.name];
		this.plot = new Plot(element, series, clock, names, this.decimals);
		const id = uniqueId("plot");
		const pause = button("tool", "Pause", () => {
			this.plot.pause(!this.plot.isPaused);
			pause.setAttribute("aria-pressed", this.plot.isPaused);
		}, { "aria-pressed": "false" });
		const zoom = button("tool", "10 minutes", () => {
			this.plot.zoom(this.plot.span === 60_000 ? 600_000 : 60_000);
			zoom.setAttribute("aria-pressed", this.plot.span !== 60_000);
		}, { "aria-pressed": "false" });
		const table = button("tool", "Save CSV", () => this.plot.saveTable());
		const picture = button("tool", "Save PNG", () => this.plot.savePicture());
		const tools = make("div", { class: "tools", id, role: "group", "aria-label": `Plot of ${element.name}`, hidden: true },
			this.plot.range, make("div", { class: "tool-row" }, pause, zoom, table, picture));
		const expand = button("expand", undefined, undefined, { "aria-expanded": "false", "aria-controls": id });
		expand.append(icon("chevron"), span("aside", `Plot of ${element.name}`));
		const toggle = () => {
			const isLarge = tools.hidden;
			tools.hidden = !isLarge;
			expand.setAttribute("aria-expanded", isLarge);
			this.node.classList.toggle("wide", isLarge);
			this.plot.enlarge(isLarge);
		};
		expand.onclick = toggle;
		this.plot.canvas.onclick = toggle;
		this.node.append(make("div", { class: "head" }, name, amount, expand), this.plot.canvas, tools);
	}

	#show() {
		const { element } = this;
		const value = this.#value;
		if (value === undefined) return;
		// All parts of a vector have the same decimals.
		if (Array.isArray(value)) for (const each of value) this.decimals.of(toNumber(each));
		if (this.cells) {
			this.cells.forEach((cell, index) => setText(cell, shown(value[index], "float", "", this.decimals)[0]));
		} else if (this.parts) {
			this.parts.forEach((part, index) => setText(part, shown(value[index], "float", "", this.decimals)[0]));
			setText(this.unit, element.unit ?? "");
		} else if (element.choices) {
			setText(this.text, choiceName(element, value));
		} else if (isNumber(element.type)) {
			const [text, unit] = shown(value, element.type, element.unit, this.decimals);
			setText(this.text, text);
			setText(this.unit, unit);
			this.text.title = exact(value, element.type);
		} else {
			setText(this.text, element.type === "bool" ? (value ? "On" : "Off") : String(value));
		}
		if (!this.plot) return;
		this.plot.canvas.setAttribute("aria-label", `${element.name}, plot: ${inWords(element, value, this.decimals)}`);
		this.plot.touch();
	}
}
