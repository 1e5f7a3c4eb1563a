/**
 * The Ask view, of the studio and of the page: what is known on one side, the verdict on the other.
 *
 * Where answers come from is left to a `source`: in the studio the library, in the page verdict.js.
 */

import { button, fill, make } from "./elements.js";
import { chainPicture } from "./chain.js";
import { EvidenceRow, isUnknown } from "./inputs.js";
import { legend, nearRules, pathLegend, pointsCard, shortDegree, valueList, VerdictCard, withChips } from "./parts.js";

/** Levels of a guarantee. */
const LEVELS = [0.8, 0.9, 0.95, 0.98];
/** Characters of values that remain up to which they are written large. */
const LARGE = 24;
/** What an outcome looks like. */
const KINDS = { decided: "decided", several: "several", no_rule: "none", novel: "none", contradiction: "conflict" };

/** Return a sentence with a capital letter, unless it begins with a name such as a_1. */
export function capital(sentence) {
  return /^[a-z]+[ ,]/.test(sentence) ? sentence[0].toUpperCase() + sentence.slice(1) : sentence;
}

/** Return what stands large in a verdict, and what beside it, from its answer in words. */
export function largeAnswer({ outcome, answer, certainty }) {
  if (outcome === "decided") {
    const value = answer.slice(0, answer.lastIndexOf(", certain "));
    return { value, how: `certain ${shortDegree(certainty)}` };
  }
  const [word, rest] = [answer.slice(0, answer.indexOf(": ")), answer.slice(answer.indexOf(": ") + 2)];
  const remaining = rest.replace(/ remain$/, "");
  if (outcome === "several" && remaining.length <= LARGE) return { value: remaining, how: word };
  return { value: capital(`${word} `).trim(), how: rest };
}

/**
 * The view. `form` has `inputs`, `questions` (attributes with `values`), `pictured` (names) and
 * `calibrated`; `source` has
 *   answer(settings, question) -> what `ask/answer` of the studio returns, or a promise of it
 *   explain(settings, question) -> an element with the full justification, or a promise of it
 *   pad(attribute, row), where inputs are drawn -> { element, show(image), wipe() }
 *   changed(inputs) with what was set by hand, by name; asked(question); tell(text)
 */
export class AskView {
  constructor(form, source, { numbers = {}, start = null } = {}) {
    Object.assign(this, { form, source, start, all: false, images: {}, content: null });
    this.question = { attribute: form.questions[0].name, place: null, level: form.calibrated ? 0.95 : null };
    this.rows = new Map(form.inputs.map((attribute) => {
      const row = new EvidenceRow(attribute, () => this.changed(attribute.name), numbers[attribute.name] ?? []);
      return [attribute.name, row];
    }));
    this.pads = new Map();
    this.verdict = new VerdictCard();
    this.values = make("section", { class: "card", "aria-label": "every value" });
    this.why = make("section", { class: "card why", "aria-label": "why", "aria-live": "polite" });
    this.head = make("div", {});
    this.element = this.layout();
  }

  layout() {
    const { pictured } = this.form;
    const isDrawn = ({ name }) => pictured.includes(name);
    const pads = this.form.inputs.filter(isDrawn).map((attribute) => this.padOf(attribute));
    const others = this.form.inputs.filter((attribute) => !isDrawn(attribute));
    return make(
      "div",
      { class: "ask", "data-first": pictured.length ? "inputs" : "answer" },
      make(
        "section",
        { class: "card given", "aria-label": "what is known" },
        make("header", {}, make("h2", {}, "What is known")),
        this.head,
        pads.length ? make("div", { class: "pads" }, pads) : null,
        others.map(({ name }) => this.rows.get(name).element),
      ),
      make("div", { class: "stack" }, this.verdict.element, this.values, this.why),
    );
  }

  padOf(attribute) {
    const row = this.rows.get(attribute.name);
    const pad = this.source.pad(attribute);
    this.pads.set(attribute.name, pad);
    return make("div", { class: "padded" }, pad.element, make("details", {}, make("summary", {}, "set by hand"), row.element));
  }

  /** What is known of each input, by name. */
  get settings() {
    return Object.fromEntries([...this.rows].map(([name, row]) => [name, row.setting]));
  }

  /** Show another sample: settings and addresses of images by input. */
  async show(settings, images = {}) {
    this.images = { ...images };
    for (const [name, row] of this.rows) {
      row.set(settings[name] ?? {}, this.pads.has(name) ? "" : images[name]);
      this.pads.get(name)?.show(images[name] ?? "", row.setting);
    }
    await this.update();
  }

  changed(name) {
    delete this.images[name];
    this.pads.get(name)?.show("", this.rows.get(name).setting);
    this.question.place = null;
    this.source.changed(name, this.rows.get(name).setting);
    return this.update();
  }

  /** Ask about a value, or (null) about the answer. */
  async ask(place) {
    this.question.place = place;
    this.source.asked(this.question);
    await this.update();
  }

  get attribute() {
    return this.form.questions.find(({ name }) => name === this.question.attribute);
  }

  async update() {
    if ([...this.rows.values()].some((row) => row.problem.textContent)) {
      this.verdict.busy = true; // what was answered before stays, dimmed
      return;
    }
    const isBlank = [...this.rows.values()].every((row) => isUnknown(row.setting));
    if (this.start && isBlank && !Object.keys(this.images).length) {
      this.begin();
      return;
    }
    const content = await this.source.answer(this.settings, { ...this.question });
    if (content) this.write(content);
  }

  begin() {
    this.content = null;
    const { title, text, examples } = this.start;
    this.verdict.show({ kind: "start", question: this.attribute.title, value: title });
    this.verdict.element.append(make("p", { class: "lead" }, text), examples);
    this.verdict.busy = false;
    this.values.hidden = this.why.hidden = true;
    this.mark([], null);
  }

  /** Write an answer; what has the focus keeps it. A brief one has its reasons in a later one. */
  write(content) {
    const active = document.activeElement;
    const key = ["index", "level", "question", "tool"].find((name) => name in (active?.dataset ?? {}));
    this.content = content;
    this.why.setAttribute("aria-busy", String(Boolean(content.brief)));
    this.values.hidden = false;
    if (content.brief) {
      this.verdict.showNext(this.answerParts(content));
      this.writeValues(content);
    } else {
      this.writeVerdict(content);
      this.writeValues(content);
      this.writeWhy(content);
      this.why.hidden = false;
      this.mark(content.deciding, content.verdict.outcome);
    }
    this.verdict.busy = false;
    if (key && !active.isConnected) {
      const same = `[data-${key}="${CSS.escape(active.dataset[key])}"]`;
      this.element.querySelector(same)?.focus({ preventScroll: true });
    }
  }

  mark(deciding, outcome) {
    const kind = outcome === "contradiction" ? "conflict" : "lit";
    for (const [name, row] of this.rows) row.mark = deciding.includes(name) ? kind : "";
  }

  /** Return what stands large in the verdict. */
  answerParts({ verdict, prefix, degrees }) {
    const kind = KINDS[verdict.outcome];
    return {
      kind,
      question: this.questions(verdict.question),
      ...largeAnswer(verdict),
      prefix,
      also: this.rival(verdict),
      possible: Math.max(...degrees),
      certain: kind === "decided" ? verdict.certainty : 0,
    };
  }

  writeVerdict({ verdict, set, text }) {
    const kind = KINDS[verdict.outcome];
    const isDecided = kind === "decided";
    const chips = (sentence) => withChips(capital(sentence), (number) => this.find(number), kind === "conflict" ? "conflict" : "");
    const lines = [
      ["Because", chips(verdict.because)],
      [isDecided ? "What would change it" : "What would decide it", [chips(verdict.what_would_change_it), set ? this.tryButton(set) : null]],
      verdict.how_firm ? ["Is it firm?", chips(verdict.how_firm)] : null,
      verdict.guarantee ? [["Guaranteed at ", this.levels()], verdict.guarantee.text] : null,
    ];
    this.verdict.show({
      ...this.answerParts(this.content),
      lines: lines.filter(Boolean),
      tools: button("Copy answer", () => this.copy(text), { class: "btn plain tiny", "data-tool": "copy" }),
    });
  }

  /** Return what else is nearly as possible as a value that is hardly certain. */
  rival({ outcome, certainty, values }) {
    if (outcome !== "decided" || certainty >= 0.5) return "";
    const { degrees } = this.content;
    const best = degrees.indexOf(1);
    const second = degrees.reduce((most, degree, i) => (i !== best && (most < 0 || degree > degrees[most]) ? i : most), -1);
    return second < 0 ? "" : `but ${this.attribute.values[second]} is possible too: ${shortDegree(degrees[second])}`;
  }

  /** Return the name of the question; a choice where there are several. */
  questions(title) {
    const { questions } = this.form;
    if (questions.length === 1) return title;
    const choose = (event) => {
      Object.assign(this.question, { attribute: event.target.value, place: null });
      this.all = false;
      this.source.asked(this.question);
      this.update();
    };
    const option = (attribute) => make("option", { value: attribute.name, selected: attribute.name === this.question.attribute }, attribute.title);
    return make("select", { "aria-label": "question", "data-question": "question", onchange: choose }, questions.map(option));
  }

  levels() {
    const choose = (event) => {
      this.question.level = Number(event.target.value);
      this.source.asked(this.question);
      this.update();
    };
    const option = (level) => make("option", { value: level, selected: level === this.question.level }, `${Math.round(100 * level)} %`);
    return make("select", { "aria-label": "level", "data-level": "level", onchange: choose }, LEVELS.map(option));
  }

  /** Return a button that sets inputs as an answer says. */
  tryButton(set) {
    const attempt = () => {
      const before = { settings: this.settings, images: { ...this.images } };
      this.question.place = null;
      for (const [name, setting] of Object.entries(set)) this.source.changed(name, setting);
      this.show({ ...this.settings, ...set }, withoutKeys(this.images, Object.keys(set)));
      this.source.tell("The inputs were changed.", {
        Undo: () => {
          for (const name of Object.keys(set)) this.source.changed(name, before.settings[name]);
          this.show(before.settings, before.images);
        },
      });
    };
    return [" ", button("Try it", attempt, { class: "btn tiny", "data-tool": "try" })];
  }

  async copy(text) {
    await navigator.clipboard.writeText(text);
    this.source.tell("Copied.");
  }

  writeValues({ verdict, degrees }) {
    const isConflict = verdict.outcome === "contradiction";
    const certainties = this.certainties(degrees, isConflict);
    const values = this.attribute.values.map((text, index) => ({
      index, text, possible: degrees[index], certain: certainties[index],
    }));
    const list = valueList({
      values,
      picked: this.question.place ?? this.winner(degrees),
      kind: KINDS[verdict.outcome],
      all: this.all,
      onPick: (index) => this.ask(index),
      onAll: () => {
        this.all = true;
        this.writeValues(this.content);
        this.values.querySelector(".row").focus();
      },
    });
    const title = make("h2", {}, "Every value ", make("span", { class: "hint" }, "Choose one to ask why, or why not."));
    fill(this.values, make("header", {}, title, legend()), list);
  }

  /** Return how certain each value is: all others are at most this possible. */
  certainties(degrees, isConflict) {
    const sorted = [...degrees].sort((a, b) => b - a);
    const others = (degree) => (degree === sorted[0] ? sorted[1] ?? 0 : sorted[0]);
    return degrees.map((degree) => (isConflict ? 0 : Math.max(0, 1 - others(degree))));
  }

  /** Return the place of the value that is decided on; null if there is none. */
  winner(degrees) {
    const full = [...degrees.keys()].filter((i) => degrees[i] === 1);
    return full.length === 1 ? full[0] : null;
  }

  writeWhy({ verdict, degrees, chain, card, clash, whyNot, near = [] }) {
    const { place } = this.question;
    const picked = place ?? this.winner(degrees);
    const value = picked === null ? "" : this.attribute.values[picked];
    const title = whyNot ? `Why not ${value}?` : picked === null ? "Why is it undecided?" : `Why ${value}?`;
    const heading = verdict.outcome === "contradiction" && !whyNot ? "Why do rules contradict each other?" : title;
    const back = button("Back to the answer", () => this.ask(null), { class: "link small", "data-tool": "back" });
    const onRule = (number) => this.find(number);
    const lines = whyNot && [
      make("p", {}, withChips(capital(whyNot.because), onRule)),
      make("p", {}, withChips(capital(whyNot.change), onRule), whyNot.set ? this.tryButton(whyNot.set) : null),
    ];
    const hasChain = !card && chain.steps.some((step) => step.rules.length);
    const full = make("div", { class: "full" });
    const details = make("details", { class: "justification" }, make("summary", {}, "The full justification"), full);
    details.addEventListener("toggle", async () => {
      if (details.open && !full.children.length) fill(full, await this.source.explain(this.settings, { ...this.question }));
    });
    fill(
      this.why,
      make("header", {}, make("h2", {}, heading), whyNot ? back : hasChain ? pathLegend() : null),
      lines ? make("div", { class: "lines" }, lines) : null,
      card ? pointsCard(card) : null,
      hasChain ? chainPicture(chain, { images: this.images, clash }) : near.length ? nearRules(near) : null,
      details,
    );
  }

  /** Bring the card of a rule into sight. */
  find(number) {
    const cards = [...this.why.querySelectorAll(".rule")];
    const card = cards.find((one) => one.querySelector(".number").textContent === String(number));
    card?.scrollIntoView({ block: "center", behavior: "smooth" });
  }
}

function withoutKeys(record, keys) {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
}
