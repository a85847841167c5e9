// What cannot be set here: a value with its unit, and a plot of its last values.

import { nameOf } from "./control.js";
import { button, icon, make, select, setText, span, uniqueId } from "./dom.js";
import { nextFrame } from "./frame.js";
import { Picture } from "./picture.js";
import { Plot, SPANS } from "./plot.js";
import { isPlotted } from "./store.js";
import { axes, choiceName, exact, inWords, isNumber, shown, toNumber } from "./values.js";

export class Reading {
	#value;
	#render = () => this.#show();

	constructor(element, service, store) {
		this.element = element;
		this.decimals = service.decimals(element);
		const head = make("div", { class: "head" }, nameOf(element));
		this.node = make("div", { class: "element reading", "data-type": element.type }, head);
		if (element.type === "data") {
			this.picture = new Picture(element);
			this.node.append(this.picture.node);
			return;
		}
		if (element.type === "float4x4") {
			this.parts = Array.from({ length: 16 }, () => make("td", { text: "—" }));
			const rows = [0, 4, 8, 12].map((first) => make("tr", {}, ...this.parts.slice(first, first + 4)));
			this.node.append(make("table", { "aria-label": element.name }, make("tbody", {}, ...rows)));
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
		head.append(amount);
		if (element.type === "string") this.text.classList.add("words");
		if (isPlotted(element)) this.#plot(head, service, store);
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
	#plot(head, service, store) {
		const { element } = this;
		const names = axes(element.type)?.map((axis) => `${element.name} ${axis}`) ?? [element.name];
		this.plot = new Plot(element, service.series(element), store.now, names, this.decimals, (seconds) => store.askForPast(service, element, seconds));
		const id = uniqueId("plot");
		const pause = button("tool", "Pause", () => {
			this.plot.pause(!this.plot.isPaused);
			pause.setAttribute("aria-pressed", this.plot.isPaused);
		}, { "aria-pressed": "false" });
		const spans = Object.keys(SPANS).slice(0, element.history ? 4 : 2).map((each) => [each, `Last ${each}`]);
		const zoom = select(undefined, "Time shown", spans, this.plot.span, (each) => this.plot.zoom(each));
		const tools = make("div", { class: "tools", id, role: "group", "aria-label": `Plot of ${element.name}`, hidden: true },
			this.plot.range, make("div", { class: "tool-row" }, pause, zoom,
				button("tool", "Save CSV", () => this.plot.saveTable()), button("tool", "Save PNG", () => this.plot.savePicture())));
		const expand = button("expand", undefined, undefined, { "aria-expanded": "false", "aria-controls": id });
		expand.append(icon("chevron"), span("aside", `Plot of ${element.name}`));
		expand.onclick = this.plot.canvas.onclick = () => {
			const isLarge = tools.hidden;
			tools.hidden = !isLarge;
			expand.setAttribute("aria-expanded", isLarge);
			this.node.classList.toggle("wide", isLarge);
			this.plot.enlarge(isLarge);
		};
		head.append(expand);
		this.node.append(this.plot.canvas, tools);
	}

	#show() {
		const { element } = this;
		const value = this.#value;
		if (value === undefined) return;
		// All parts of a vector have the same decimals.
		if (Array.isArray(value)) for (const each of value) this.decimals.of(toNumber(each));
		if (this.parts) {
			this.parts.forEach((part, index) => setText(part, shown(value[index], "float", "", this.decimals)[0]));
			if (this.unit) setText(this.unit, element.unit ?? "");
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
