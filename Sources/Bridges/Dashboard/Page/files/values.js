// Elements' types, and values as text.

const WHOLE = Object.fromEntries([8n, 16n, 32n, 64n].flatMap((bits) => [
	[`int${bits}`, [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]], [`uint${bits}`, [0n, 2n ** bits - 1n]],
]));
const AXES = { float2: ["x", "y"], float3: ["x", "y", "z"], float4: ["x", "y", "z", "w"] };

export const limits = (type) => WHOLE[type];
export const isWhole = (type) => type in WHOLE;
export const isNumber = (type) => isWhole(type) || type === "float" || type === "double";
// Whether values travel as text of digits, since a JavaScript number does not hold 64 bits.
export const isLong = (type) => type === "int64" || type === "uint64";
export const axes = (type) => AXES[type];

// A number of the network: a number, digits as text, "nan", "inf" or "-inf".
export function toNumber(value) {
	if (typeof value === "number") return value;
	if (value === "inf") return Infinity;
	if (value === "-inf") return -Infinity;
	return value === "nan" || value == null ? NaN : Number(value);
}

function special(value) {
	if (Number.isNaN(value)) return "not a number";
	return value > 0 ? "∞" : "−∞";
}

// A number as it is edited: all of its digits, without the noise of 32 bits.
export function exact(value, type) {
	if (isLong(type)) return String(value);
	const number = toNumber(value);
	if (!Number.isFinite(number)) return special(number);
	return String(isWhole(type) ? number : Number(number.toPrecision(type === "double" ? 15 : 7)));
}

const PREFIXES = ["", "k", "M", "G", "T", "P"];

// How many decimals an element's values are shown with. They stay, so that a value does not jump while it changes: as
// many as the step has, or else as many as values have shown, up to four digits, or one decimal.
export class Decimals {
	#count = 0;
	#size = 0;
	#step;

	constructor({ type, step, range }) {
		this.type = type;
		this.#step = step == null ? undefined : decimalsOf(toNumber(step));
		this.#size = range ? Math.max(...range.map((limit) => Math.abs(toNumber(limit)))) : 0;
	}

	of(number) {
		if (this.#step !== undefined) return Math.min(this.#step, 6);
		this.#size = Math.max(this.#size, Math.abs(number));
		this.#count = Math.max(this.#count, decimalsOf(number));
		return Math.min(this.#count, Math.max(placesBehind(this.#size, 4), this.#size < 1e5 ? 1 : 0));
	}
}

// The decimals of a number's shortest text, of seven digits.
const decimalsOf = (number) => (String(Number(number.toPrecision(7))).split(".")[1] ?? "").replace(/e.*/, "").length;

function placesBehind(size, digits) {
	const before = size < 1 ? 1 : Math.floor(Math.log10(size)) + 1;
	return Math.min(Math.max(digits - before, 0), 4);
}

// A number as it is read, of bytes with a prefix. Returns its text and its unit.
export function shown(value, type, unit, decimals) {
	const number = toNumber(value);
	if (!Number.isFinite(number)) return [special(number), unit ?? ""];
	const isBytes = unit === "B" || unit === "B/s";
	if (isBytes && Math.abs(number) >= 1000) {
		const power = Math.min(Math.floor(Math.log10(Math.abs(number)) / 3), PREFIXES.length - 1);
		return [(number / 1000 ** power).toFixed(power ? 2 : 0), PREFIXES[power] + unit];
	}
	if (isWhole(type)) return [isLong(type) ? String(value) : String(number), unit ?? ""];
	return [fixed(number, decimals), unit ?? ""];
}

function fixed(number, decimals) {
	const size = Math.abs(number);
	if (size !== 0 && (size >= 10 ** 9 || size < 0.0001)) return number.toExponential(3);
	return number.toFixed(decimals ? decimals.of(number) : placesBehind(size, 4));
}

export function choiceName(element, value) {
	const choice = element.choices.find((each) => String(each.value) === String(value));
	return choice ? choice.name : String(value);
}

export function inWords(element, value, decimals) {
	if (value === undefined) return "no value yet";
	if (element.choices) return choiceName(element, value);
	if (typeof value === "boolean") return value ? "on" : "off";
	const names = axes(element.type);
	if (names) return names.map((name, index) => `${name} ${shown(value[index], "float", "", decimals)[0]}`).join(", ");
	if (isNumber(element.type)) return shown(value, element.type, element.unit, decimals).join(" ").trim();
	return String(value);
}

// Whether two values are the same, of a float to 32 bits.
export function isSame(element, one, other) {
	if (Array.isArray(one) && Array.isArray(other)) {
		return one.length === other.length && one.every((each, index) => Math.fround(each) === Math.fround(other[index]));
	}
	if (element.type === "float" && typeof one === "number" && typeof other === "number") {
		return Math.fround(one) === Math.fround(other);
	}
	return one === other;
}

// The number that a text means, as it is sent; throws an Error that says what is wrong.
export function parse(text, element) {
	const typed = text.trim().replace(",", ".").replace("−", "-");
	const [low, high] = element.range ?? [];
	const bounds = element.range ? ` from ${low} to ${high}` : "";
	if (isWhole(element.type)) {
		if (!/^[+-]?\d{1,20}$/.test(typed)) throw new Error(`Not a whole number${bounds}.`);
		const number = BigInt(typed.replace("+", ""));
		const [least, most] = WHOLE[element.type];
		if (number < least || number > most) throw new Error(`Not a number from ${least} to ${most}.`);
		if (number < low || number > high) throw new Error(`Not a number${bounds}.`);
		return isLong(element.type) ? number.toString() : Number(number);
	}
	const number = typed === "" ? NaN : Number(typed);
	if (!Number.isFinite(number) || number < low || number > high) throw new Error(`Not a number${bounds}.`);
	return number;
}

// A step for a control over a range: what the catalogue says, or about a hundredth, rounded.
export function stepOf(element, low, high) {
	if (element.step) return toNumber(element.step);
	if (isWhole(element.type)) return 1;
	const rough = (high - low) / 200 || 0.01;
	const power = 10 ** Math.floor(Math.log10(rough));
	return Number((power * [1, 2, 5, 10].find((each) => each * power >= rough * 0.999)).toPrecision(6));
}

export function hexPrefix(bytes) {
	const start = Array.from(bytes.subarray(0, 32), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
	return bytes.length > 32 ? `${start} …` : start;
}

export function sizeText(count) {
	if (count === 1) return "1 byte";
	return count < 1000 ? `${count} bytes` : shown(count, "double", "B").join(" ");
}
