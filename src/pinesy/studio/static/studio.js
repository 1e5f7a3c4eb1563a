// What views are given: how to ask the server, the sample that all views look at, and events.
import { make } from "/shared/elements.js";
import { notice } from "/shared/parts.js";

/** What the token of a studio is stored as: storage is of a port alone, cookies are not. */
const TOKEN = "pinesy-token";

/** An answer of the server that says what went wrong: message, and line and column if it has them. */
export class Refusal extends Error {
  constructor(content, status) {
    super(content.error || `the studio answered ${status}`);
    Object.assign(this, { kind: content.kind, line: content.line, column: content.column, status });
  }
}

/**
 * Events: "state" when the state of the work is new (`state`; `state.version` counts changes of
 * rules and data), "sample" when the sample is another (`sample`), "view" when a tab is chosen.
 */
export class Studio extends EventTarget {
  constructor(notices) {
    super();
    this.notices = notices;
    this.state = { version: -1 };
    // As question.py describes it: a row of the data or none, and what was set since.
    this.sample = { row: null, inputs: {} };
    // What is asked: {attribute, place of a value or null, level of the guarantee or null}.
    this.question = null;
    this.view = "";
    // Of the rows in Data: which ones are shown, and which ones to show next.
    this.filter = this.dataFilter = null;
    this.lost = null;
  }

  /** Get access: for the code of an address, or because this browser has had it before. */
  async enter(code) {
    const { token } = await this.ask("enter", { code });
    localStorage.setItem(TOKEN, token);
  }

  /** Ask an endpoint, "view/name", and return what it answers; throws a Refusal. */
  async ask(path, content = {}, options = {}) {
    const response = await this.send(path, content, options);
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Refusal(answer, response.status);
    return answer;
  }

  async send(path, content, options) {
    try {
      const response = await fetch(`/api/${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-pinesy-token": localStorage.getItem(TOKEN) ?? "",
        },
        body: JSON.stringify(content),
        ...options,
      });
      this.lost?.remove();
      this.lost = null;
      return response;
    } catch (error) {
      if (error.name === "AbortError") throw error;
      this.lost ??= this.tell("The studio does not answer. Was it ended in the terminal?", "error");
      throw new Refusal({ error: "the studio does not answer" }, 0);
    }
  }

  /** Lay a notice over the page, with buttons {text: action}; return it, to be removed. */
  tell(text, kind = "note", actions = {}) {
    return notice(this.notices, text, kind, actions);
  }

  /** Save a text to a file of the one who looks at the page. */
  download(name, text, type) {
    const href = URL.createObjectURL(new Blob([text], { type }));
    make("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  }

  /** Run something that may be refused, and show why it was. */
  async attempt(action) {
    try {
      return await action();
    } catch (error) {
      if (error.name !== "AbortError" && error.status !== 0) this.tell(error.message, "error");
      return undefined;
    }
  }

  /** Look at another sample, in all views. */
  setSample(sample) {
    this.sample = sample;
    this.writeAddress();
    this.dispatchEvent(new Event("sample"));
  }

  /** Ask something else of the sample. */
  setQuestion(question) {
    this.question = question;
    this.writeAddress();
  }

  // --- the address holds what is looked at: #ask?row=3&question={...}&inputs={...} ---

  writeAddress() {
    const { row, inputs } = this.sample;
    // Drawings are too long for an address.
    const kept = Object.entries(inputs).filter(([, content]) => !content.image);
    const content = new URLSearchParams();
    if (row !== null) content.set("row", row + 1);
    if (kept.length) content.set("inputs", JSON.stringify(Object.fromEntries(kept)));
    if (this.question) content.set("question", JSON.stringify(this.question));
    if (this.view === "data" && this.filter && this.filter !== "all") content.set("rows", this.filter);
    history.replaceState(null, "", `#${this.view}${content.size ? `?${content}` : ""}`);
  }

  readAddress() {
    const [view, rest = ""] = location.hash.slice(1).split("?");
    const content = new URLSearchParams(rest);
    this.view = view;
    if (!rest) return;
    if (content.get("rows")) this.dataFilter = content.get("rows");
    try {
      const row = Number(content.get("row"));
      this.question = JSON.parse(content.get("question") ?? "null");
      const sample = { row: row > 0 ? row - 1 : null, inputs: JSON.parse(content.get("inputs") ?? "{}") };
      if (JSON.stringify(sample) !== JSON.stringify(this.sample)) this.setSample(sample);
    } catch {
      this.tell("This address is cut short: it has no sample.", "error");
    }
  }

  /** Look at other rows in Data. */
  setFilter(filter) {
    this.filter = filter;
    this.writeAddress();
  }

  /** Ask for the state; an event informs views if it is new. */
  async refresh() {
    this.receive(await this.ask("shell/state"));
  }

  receive(state) {
    const old = JSON.stringify(this.state);
    this.state = state;
    if (old !== JSON.stringify(state)) this.dispatchEvent(new Event("state"));
  }

  /** Choose a view, as its tab does. */
  go(view) {
    this.dispatchEvent(new CustomEvent("go", { detail: view }));
  }
}
