// What the browser remembers; it may be forbidden to.

function remember(storage, name, value) {
	try {
		const store = storage();
		if (value !== undefined) store.setItem(name, value);
		return store.getItem(name);
	} catch {
		return null;
	}
}

// The token, for this tab.
export const token = (value) => remember(() => sessionStorage, "elemental.token", value);

// What a controller moves, a list of settings.
export function controller(settings) {
	try {
		return JSON.parse(remember(() => localStorage, "elemental.controller", settings && JSON.stringify(settings)) ?? "[]");
	} catch {
		return [];
	}
}

const FAVOURITES = "elemental.favourites";

// The favourite services, by their identifiers, for as long as the browser keeps them.
class Favourites {
	#ids = new Set();

	constructor() {
		this.#read();
		// Another tab has changed them.
		window.addEventListener("storage", (event) => event.key === FAVOURITES && this.#read());
	}

	has(id) {
		return this.#ids.has(id);
	}

	toggle(id) {
		this.#read();
		if (!this.#ids.delete(id)) this.#ids.add(id);
		remember(() => localStorage, FAVOURITES, JSON.stringify([...this.#ids]));
	}

	#read() {
		try {
			this.#ids = new Set(JSON.parse(remember(() => localStorage, FAVOURITES) ?? JSON.stringify([...this.#ids])));
		} catch {
			this.#ids = new Set();
		}
	}
}

export const favourites = new Favourites();
