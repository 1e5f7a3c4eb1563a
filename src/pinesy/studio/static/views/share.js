// The Share view: one file for a colleague, the same in code, and files.
import { capital } from "/shared/ask.js";
import { button, counted, fill, make } from "/shared/elements.js";
import { bar, card, shortDegree, withChips } from "/shared/parts.js";
import { FreshView } from "../fresh_view.js";
import { segments } from "../tables.js";

class ShareView extends FreshView {
  constructor(place, studio) {
    super(place, studio, "share");
    this.language = "Python";
    studio.addEventListener("sample", () => (this.stale = true));
  }

  get asked() {
    return { sample: this.studio.sample, attribute: this.studio.question?.attribute ?? null };
  }

  async load() {
    this.seen = this.key;
    this.stale = false;
    this.place.setAttribute("aria-busy", "true");
    try {
      this.found = await this.studio.ask("share/overview", this.asked);
    } finally {
      this.place.setAttribute("aria-busy", "false");
    }
    this.code = make("div", {});
    this.showCode();
    fill(this.place, make("div", { class: "share-columns" }, this.pageCard(), this.code, this.filesCard()));
  }

  attempt(text, action, kind, attributes = {}) {
    return button(text, () => this.studio.attempt(action), { class: `btn ${kind}`, ...attributes });
  }

  pageCard() {
    const { verdict, prefix, bytes, samples } = this.found;
    const size = bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
    const isDecided = verdict.outcome === "decided";
    const [head, ...rest] = verdict.answer.split(": ");
    const look = { decided: "", contradiction: "conflict" }[verdict.outcome] ?? "undecided";
    const sheet = make(
      "div",
      { class: "sheet", "aria-hidden": "true", inert: true },
      make(
        "div",
        { class: "card verdict", "data-kind": isDecided ? "decided" : look },
        make("div", { class: "eyebrow" }, make("span", {}, verdict.question)),
        make(
          "div",
          { class: "answer" },
          make("span", { class: "value" }, isDecided && prefix ? [make("small", {}, prefix), " "] : null, isDecided ? verdict.values[0] : capital(`${head} `).trim()),
          make("span", { class: isDecided ? "how" : "how words" }, isDecided ? `certain ${shortDegree(verdict.certainty)}` : rest.join(": ")),
        ),
        bar(1, isDecided ? verdict.certainty : 0, look),
        make("p", { class: "small quiet" }, withChips(capital(verdict.because), () => {})),
      ),
    );
    const rows = samples === 1 ? "1 sample" : `${counted(samples)} samples`;
    return card(
      "One file for a colleague",
      make("span", { class: "small quiet" }, size),
      sheet,
      make("p", {}, `Rules, ${samples ? rows : "no samples"} and the engine in one page. It opens in any browser, without a network, and sends nothing.`),
      make("div", { class: "tools" }, this.attempt("Save page", () => this.savePage(), "main"), this.attempt("Open preview", () => this.preview(), "")),
    );
  }

  async savePage() {
    const { name, page } = await this.studio.ask("share/page", this.asked);
    this.studio.download(name, page, "text/html");
    this.studio.tell(`${name} is saved where your browser saves files.`);
  }

  /** Open the page in a tab; the tab is opened at once, so that browsers allow it. */
  async preview() {
    const tab = window.open("about:blank", "_blank");
    try {
      const { address } = await this.studio.ask("share/preview", this.asked);
      if (tab) tab.location = address;
      else this.studio.tell("The browser did not open a tab; save the page instead.", "warning");
    } catch (error) {
      tab?.close();
      throw error;
    }
  }

  showCode() {
    const { code } = this.found;
    const choose = (language) => {
      this.language = language;
      this.showCode();
      this.code.querySelector('[aria-pressed="true"]').focus();
    };
    const copy = async () => {
      await navigator.clipboard.writeText(code[this.language]);
      this.studio.tell("Copied.");
    };
    const names = Object.keys(code).map((name) => [name, name]);
    fill(
      this.code,
      card(
        "The same in code",
        segments("language", names, this.language, choose),
        make("pre", { class: "snippet", tabindex: 0 }, make("code", {}, code[this.language])),
        make("div", { class: "tools" }, this.attempt("Copy", copy, "tiny")),
      ),
    );
  }

  filesCard() {
    const one = ({ kind, title, suffix, help, missing }) =>
      make(
        "li",
        {},
        make("span", {}, make("b", {}, title), " ", make("span", { class: "tag" }, suffix), make("br"), make("span", { class: "small quiet" }, missing || help)),
        this.attempt("Save", () => this.saveFile(kind), "tiny", { "aria-label": `Save ${title}`, disabled: Boolean(missing) }),
      );
    const element = card("Files", null, make("ul", { class: "formats" }, this.found.files.map(one)));
    element.classList.add("all");
    return element;
  }

  async saveFile(kind) {
    const { name, content } = await this.studio.ask("share/file", { kind, ...this.asked });
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    this.studio.download(name, bytes, "application/octet-stream");
    this.studio.tell(`${name} is saved where your browser saves files.`);
  }
}

/** Fill the view. */
export async function open(place, studio) {
  const view = new ShareView(place, studio);
  await view.update();
}
