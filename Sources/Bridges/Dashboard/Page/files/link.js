// The connection to the dashboard: a WebSocket that comes back by itself.

const SHORTEST_WAIT = 300;
const LONGEST_WAIT = 5000;
const PING_INTERVAL = 5000;
const PONG_LIMIT = 4000;
// How long connecting may take, and an answer after the page was asleep, when the socket is probably dead.
const CONNECT_LIMIT = 8000;
const WAKE_LIMIT = 1500;

export class Link {
	// "connecting", "open" (the dashboard has said hello), "lost" or "token" (it wants another token).
	state = "connecting";
	#socket = null;
	#wait = SHORTEST_WAIT;
	#retry = 0;
	#heartbeat = 0;
	#deadline = 0;
	#number = 0;
	#token;
	#events;
	#listening = new AbortController();

	// `events` has onState(state, text), onMessage(message) and onBytes(buffer).
	constructor(events) {
		this.#events = events;
		const wake = () => document.visibilityState === "visible" && this.#wake();
		const { signal } = this.#listening;
		document.addEventListener("visibilitychange", wake, { signal });
		document.addEventListener("resume", wake, { signal });
		for (const name of ["pageshow", "online", "focus"]) window.addEventListener(name, wake, { signal });
	}

	// Ends the connection for good.
	stop() {
		this.#listening.abort();
		this.#drop();
		this.state = "ended";
	}

	// Whether what was sent last has not left yet.
	get isBusy() {
		return this.#socket !== null && this.#socket.bufferedAmount > 0;
	}

	nextNumber() {
		return ++this.#number;
	}

	// Connects with this token.
	start(token) {
		this.#token = token;
		this.#enter("connecting", "Connecting…");
		this.#connect();
	}

	send(message) {
		if (this.state !== "open" || this.#socket?.readyState !== WebSocket.OPEN) return false;
		this.#socket.send(JSON.stringify(message));
		return true;
	}

	#connect() {
		this.#drop();
		const socket = new WebSocket(`${location.origin.replace("http", "ws")}/live`);
		this.#socket = socket;
		socket.binaryType = "arraybuffer";
		this.#expect(CONNECT_LIMIT);
		socket.onopen = () => socket.send(JSON.stringify(this.#token ? { t: "hello", token: this.#token } : { t: "hello" }));
		socket.onmessage = (event) => socket === this.#socket && this.#receive(event.data);
		socket.onclose = (event) => socket === this.#socket && this.#closed(event);
	}

	#receive(data) {
		// Whatever comes shows that the connection lives.
		if (this.state === "open") this.#expect(0);
		if (typeof data !== "string") return this.#events.onBytes(data);
		const message = JSON.parse(data);
		if (message.t === "pong" || message.t === "hello") this.#expect(0);
		if (message.t === "hello") {
			this.#wait = SHORTEST_WAIT;
			this.#heartbeat = setInterval(() => this.#ping(PONG_LIMIT), PING_INTERVAL);
			this.#enter("open", "Live");
		}
		this.#events.onMessage(message);
	}

	#ping(limit) {
		if (this.send({ t: "ping", n: this.nextNumber() })) this.#expect(limit);
	}

	// Gives the connection up unless it answers within so many milliseconds; 0: it has answered.
	#expect(limit) {
		clearTimeout(this.#deadline);
		this.#deadline = limit ? setTimeout(() => this.#lose(true), limit) : 0;
	}

	#closed(event) {
		const refusal = event.code === 1008 && { "token": "Not allowed in", "too many tokens": "Too many wrong tokens: wait a minute" }[event.reason];
		if (refusal) {
			this.#drop();
			this.#enter("token", refusal);
		} else {
			this.#lose();
		}
	}

	#lose(atOnce = false) {
		this.#drop();
		this.#enter("lost", "Connection lost, trying again…");
		this.#retry = setTimeout(() => this.#connect(), atOnce ? 0 : this.#wait * (0.75 + Math.random() / 2));
		this.#wait = Math.min(this.#wait * 1.7, LONGEST_WAIT);
	}

	// The page is seen again, or the network is back: a socket that stayed silent meanwhile may be dead.
	#wake() {
		if (this.state === "open") this.#ping(WAKE_LIMIT);
		else if (this.state === "lost") {
			this.#wait = SHORTEST_WAIT;
			if (this.#socket === null) this.#connect();
		}
	}

	#drop() {
		clearTimeout(this.#retry);
		clearTimeout(this.#deadline);
		clearInterval(this.#heartbeat);
		const socket = this.#socket;
		this.#socket = null;
		if (!socket) return;
		socket.onopen = socket.onmessage = socket.onclose = null;
		socket.close();
	}

	#enter(state, text) {
		const isNew = state !== this.state;
		this.state = state;
		if (isNew) this.#events.onState(state, text);
	}
}
