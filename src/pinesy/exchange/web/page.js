/** The page in one file: the Ask view on samples that it holds, computed here. */

import { AskView } from "./ask.js";
import { readCard } from "./card.js";
import { button, fill, make } from "./elements.js";
import { readRules, winnersOf } from "./engine.js";
import { degreesOf } from "./inputs.js";
import { notice } from "./parts.js";
import { explanationTree } from "./tree.js";
import { answerTo } from "./verdict.js";

const at = (id) => document.getElementById(id);

class Page {
  constructor(data) {
    this.samples = data.samples;
    this.rules = readRules(data.rules);
    this.rules.card = data.rules.card ? readCard(data.rules.card, this.rules.attributes) : null;
    this.state = null;
    const { inputs, questions } = this.rules;
    const form = { inputs, questions: questions.map(({ attribute }) => attribute), pictured: [], calibrated: false };
    this.view = new AskView(form, this.source(), { numbers: this.numbers() });
    this.writeSamples();
    fill(at("view"), this.view.element);
    fill(at("about"), data.about);
    window.addEventListener("hashchange", () => this.readAddress());
    this.readAddress();
  }

  /** Return the numbers of each input in the samples, for the range of its slider. */
  numbers() {
    const seen = (i) => this.samples.map((sample) => sample.inputs[i].number).filter(Number.isFinite);
    return Object.fromEntries(this.rules.inputs.map(({ name }, i) => [name, seen(i)]));
  }

  source() {
    return {
      answer: (settings, question) => this.answer(settings, question),
      explain: (_settings, question) => this.explained(question),
      changed: (name, setting) => {
        this.own[name] = setting;
        this.writeAddress();
      },
      asked: () => this.writeAddress(),
      tell: (text, actions) => notice(at("notices"), text, "note", actions),
    };
  }

  answer(settings, { attribute, place }) {
    const own = this.rules.inputs.map(({ name }) => settings[name]);
    const degrees = this.rules.inputs.map((input, i) => degreesOf(input, own[i]));
    const content = answerTo(this.rules, own, degrees, attribute, place, this.state);
    this.state = content.state;
    return content;
  }

  /** Return the full justification of a value. */
  explained({ attribute, place }) {
    const asked = this.rules.attributes.find(({ name }) => name === attribute);
    const images = this.rules.inputs.map((a) => [a, this.view.images[a.name] ?? null]);
    const state = { ...this.state, images: new Map(images) };
    return explanationTree(state, asked, place ?? winnersOf(this.state.degrees[asked.number])[0]);
  }

  // --- samples ---

  writeSamples() {
    const step = (text, label, by) => button(text, () => this.open(this.number + by), { class: "btn", "aria-label": label });
    this.picker = make(
      "select",
      { "aria-label": "Sample", onchange: () => this.open(Number(this.picker.value)) },
      this.samples.map(({ title }, i) => make("option", { value: i }, title)),
    );
    this.before = step("‹", "sample before", -1);
    this.after = step("›", "next sample", 1);
    const again = button("as it was", () => this.open(this.number), { class: "btn plain tiny" });
    const nav = make("div", { class: "rownav" }, this.before, this.picker, this.after, again);
    if (this.samples.length) fill(this.view.head, nav);
  }

  /** Look at a sample; without samples nothing is known of the inputs. */
  open(number, own = {}) {
    this.number = Math.max(0, Math.min(number, this.samples.length - 1));
    this.own = own;
    this.view.question.place = null;
    this.show();
    this.writeAddress();
  }

  show() {
    const sample = this.samples[this.number] ?? null;
    this.picker.value = this.number;
    this.before.disabled = this.number <= 0;
    this.after.disabled = this.number >= this.samples.length - 1;
    const names = this.rules.inputs.map(({ name }) => name);
    const settings = Object.fromEntries(names.map((name, i) => [name, this.own[name] ?? sample?.inputs[i] ?? {}]));
    const images = names.map((name, i) => [name, sample?.images?.[i] ?? null]);
    const kept = images.filter(([name, image]) => image && !(name in this.own));
    return this.view.show(settings, Object.fromEntries(kept));
  }

  // --- the address holds what is looked at: #sample=3&question={...}&inputs={...} ---

  writeAddress() {
    const content = new URLSearchParams({ sample: this.number + 1, question: JSON.stringify(this.view.question) });
    if (Object.keys(this.own).length) content.set("inputs", JSON.stringify(this.own));
    history.replaceState(null, "", `#${content}`);
  }

  readAddress() {
    const content = new URLSearchParams(location.hash.slice(1));
    try {
      this.number = Math.max(0, Math.min(Number(content.get("sample") ?? 1) - 1, this.samples.length - 1)) || 0;
      this.own = JSON.parse(content.get("inputs") ?? "{}");
      const question = JSON.parse(content.get("question") ?? "{}") ?? {};
      const isKnown = this.view.form.questions.some(({ name }) => name === question.attribute);
      if (isKnown) Object.assign(this.view.question, { attribute: question.attribute, place: question.place ?? null });
    } catch {
      Object.assign(this, { number: 0, own: {} });
    }
    this.show();
  }
}

globalThis.page = new Page(JSON.parse(at("data").textContent));
