// A plot of a series on a canvas: the last minute to the last day, paused or not, saved as PNG or CSV.

import { asFileName, make, save, setText } from "./dom.js";
import { nextFrame } from "./frame.js";
import { shown } from "./values.js";

const MINUTE = 60_000;
// What is plotted, in milliseconds; more than ten minutes only where the service keeps values.
export const SPANS = { minute: MINUTE, "10 minutes": 10 * MINUTE, hour: 60 * MINUTE, day: 1440 * MINUTE };
const plots = new Set();
const scheme = window.matchMedia("(prefers-color-scheme: dark)");
let colours = null;

// The page's colours, read anew when it turns dark or light.
function palette() {
	const style = getComputedStyle(document.documentElement);
	colours ??= ["line-fill", "edge", "quiet", "card", "line-1", "line-2", "line-3", "line-4"].map((name) => style.getPropertyValue(`--${name}`).trim());
	return colours;
}
scheme.addEventListener("change", () => {
	colours = null;
	for (const plot of plots) plot.touch();
});
// A value that stays the same also moves to the left.
setInterval(() => {
	for (const plot of plots) if (!plot.isPaused) plot.touch();
}, 1000);

const sight = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => target.plot.see(isIntersecting)));
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => target.plot.touch()));

function ticks(low, high, count) {
	const rough = (high - low) / count;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = power * [1, 2, 5, 10].find((each) => each * power >= rough);
	const first = Math.ceil(low / step);
	return Array.from({ length: count + 2 }, (_, index) => Number(((first + index) * step).toPrecision(10))).filter((tick) => tick <= high);
}

export class Plot {
	isPaused = false;
	#isLarge = false;
	#isSeen = false;
	#isFilled = false;
	#end = 0;
	#draw = () => this.#paint();

	// `clock` tells the page's time in milliseconds; `names` has a name per row of the series, `decimals` its digits. `ask` asks
	// for the values of so many seconds that the service has kept, and returns whether it can.
	constructor(element, series, clock, names, decimals, ask) {
		Object.assign(this, { element, series, clock, names, decimals, ask });
		this.canvas = make("canvas", { class: "plot", role: "img", "aria-label": element.name });
		this.canvas.plot = this;
		this.range = make("p", { class: "plot-range quiet" });
		plots.add(this);
		series.onFull = () => this.refill();
		this.zoom(element.history ? "day" : "minute");
		sight.observe(this.canvas);
		sizes.observe(this.canvas);
	}

	remove() {
		plots.delete(this);
		sight.unobserve(this.canvas);
		sizes.unobserve(this.canvas);
	}

	touch() {
		if (!this.#isSeen) return;
		this.#isFilled ||= this.ask(SPANS[this.span] / 1000);
		nextFrame(this.#draw);
	}

	see(isSeen) {
		this.#isSeen = isSeen;
		this.touch();
	}

	enlarge(isLarge) {
		this.#isLarge = isLarge;
		this.canvas.classList.toggle("large", isLarge);
		this.touch();
	}

	pause(isPaused) {
		this.isPaused = isPaused;
		this.#end = this.clock();
		this.touch();
	}

	// `span` is a name in SPANS.
	zoom(span) {
		this.span = span;
		this.series.longest = Math.max(SPANS[span], 10 * MINUTE);
		this.refill();
	}

	// Asks for what the service has kept, when the plot is seen.
	refill() {
		this.#isFilled = !this.element.history;
		this.touch();
	}

	savePicture() {
		const canvas = document.createElement("canvas");
		this.#drawOn(canvas, 1200, 600, 2, this.element.name);
		canvas.toBlob((blob) => blob && save(blob, `${asFileName(this.element.name)}.png`), "image/png");
	}

	saveTable() {
		const end = this.#now();
		const wall = Date.now() - this.clock();
		const { series } = this;
		const unit = this.element.unit ? ` (${this.element.unit})` : "";
		const lines = [["time", ...this.names.map((name) => name + unit)].map(asCell).join(",")];
		for (const index of series.within(end - SPANS[this.span], end)) {
			const row = this.names.map((_, each) => series.value(each, index));
			if (row.every(Number.isNaN)) continue;
			lines.push([new Date(wall + series.time(index)).toISOString(), ...row].join(","));
		}
		save(new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" }), `${asFileName(this.element.name)}.csv`);
	}

	#now() {
		return this.isPaused ? this.#end : this.clock();
	}

	#paint() {
		const { clientWidth: width, clientHeight: height } = this.canvas;
		if (width > 0 && height > 0) this.#drawOn(this.canvas, width, height, window.devicePixelRatio || 1);
	}

	#limits(start, end) {
		const { series } = this;
		let low = Infinity;
		let high = -Infinity;
		for (const index of series.within(start, end, 1)) {
			for (let row = 0; row < series.width; row += 1) {
				const value = series.value(row, index);
				if (value < low && value !== -Infinity) low = value;
				if (value > high && value !== Infinity) high = value;
			}
		}
		return low <= high ? [low, high] : null;
	}

	#drawOn(canvas, width, height, ratio, title) {
		const [fill, grid, text, ground, ...lines] = palette();
		const isLarge = this.#isLarge || title !== undefined;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		const context = canvas.getContext("2d");
		context.scale(ratio, ratio);
		const end = this.#now();
		// What there is fills the plot: at first a small one has a few seconds.
		const span = Math.min(SPANS[this.span], Math.max(end - (this.series.time(0) ?? end), isLarge ? MINUTE : 3000));
		const start = end - span;
		const limits = this.#limits(start, end);
		const [least, most] = limits ?? [0, 1];
		if (title === undefined) this.#tellRange(limits);
		const { unit } = this.element;
		const label = (value) => (unit?.startsWith("B") ? shown(value, "float", unit).join(" ") : String(value));
		const margin = (most - least) * 0.08 || Math.abs(most) * 0.1 || 1;
		const low = least - margin;
		const high = most + margin;

		context.font = "12px system-ui, sans-serif";
		const top = title === undefined ? 4 : 44;
		const bottom = height - (isLarge ? 22 : 3);
		const right = width - 2;
		const marks = isLarge ? ticks(low, high, Math.max(2, Math.floor((bottom - top) / 46))) : [];
		const left = isLarge ? Math.min(Math.max(...marks.map((mark) => context.measureText(label(mark)).width), 20) + 10, width / 3) : 0;
		const x = (time) => left + (time - start) / span * (right - left);
		const y = (value) => bottom - (value - low) / (high - low) * (bottom - top);

		if (title !== undefined) {
			context.fillStyle = ground;
			context.fillRect(0, 0, width, height);
			context.fillStyle = text;
			context.fillText(title, 12, 26, width - 24);
		}
		context.strokeStyle = grid;
		context.fillStyle = text;
		context.lineWidth = 1;
		const rule = (at) => {
			context.beginPath();
			context.moveTo(left, at + 0.5);
			context.lineTo(right, at + 0.5);
			context.stroke();
		};
		for (const mark of marks) {
			rule(Math.round(y(mark)));
			context.textAlign = "right";
			context.fillText(label(mark), left - 6, y(mark) + 4, left - 6);
		}
		if (isLarge) {
			context.textAlign = "left";
			context.fillText(`${duration(span)} ago`, left, height - 5);
			context.textAlign = "right";
			context.fillText(this.isPaused ? "paused" : "now", right, height - 5);
		} else rule(bottom); // So that a value that has just come is no stray mark.
		context.lineWidth = 1.75;
		context.lineJoin = "round";
		for (let row = this.series.width - 1; row >= 0; row -= 1) {
			const path = this.#trace(context, row, start, end, x, y, left, ratio, this.series.width === 1 ? { fill, bottom } : null);
			context.strokeStyle = lines[row % lines.length];
			context.stroke(path);
		}
	}

	// Traces a row; of many values in the same pixel the least and the greatest. A gap of over two seconds is a step.
	#trace(context, row, start, end, x, y, left, ratio, area) {
		const { series } = this;
		const path = new Path2D();
		let points = [];
		let last = null;
		let column = null;
		const flush = () => {
			if (column) points.push(...[column.first, column.low, column.high, last.value].map((value) => [column.x, y(value)]));
			column = null;
		};
		const close = (time) => {
			flush();
			if (!last) return;
			points.push([Math.max(x(time), left), y(last.value)]);
			const line = new Path2D();
			points.forEach((point, index) => (index ? line.lineTo(...point) : line.moveTo(...point)));
			path.addPath(line);
			if (area) {
				line.lineTo(points[points.length - 1][0], area.bottom);
				line.lineTo(points[0][0], area.bottom);
				context.fillStyle = area.fill;
				context.fill(line);
			}
			points = [];
			last = null;
		};
		for (const index of series.within(start, end, 1)) {
			const time = series.time(index);
			const value = series.value(row, index);
			if (!Number.isFinite(value)) {
				close(time);
				continue;
			}
			const place = Math.max(Math.round(x(time) * ratio) / ratio, left);
			if (column?.x !== place) flush();
			if (last && time - last.time > 2000) points.push([place, y(last.value)]);
			column ??= { x: place, first: value, low: value, high: value };
			column.low = Math.min(column.low, value);
			column.high = Math.max(column.high, value);
			last = { time, value };
		}
		close(end);
		return path;
	}

	#tellRange(limits) {
		if (!this.#isLarge) return;
		const say = (value) => shown(value, "float", this.element.unit, this.decimals).join(" ").trim();
		setText(this.range, limits ? `Least ${say(limits[0])}, greatest ${say(limits[1])} in the last ${this.span}` : "No values yet");
	}
}

function duration(time) {
	const minutes = time / MINUTE;
	return minutes < 2 ? `${Math.round(time / 1000)} s` : minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
}

// A cell of a CSV file; a name that a spreadsheet would take for a formula is made text.
function asCell(text) {
	const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
	return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
