// The Ask view of the studio: rows of the data, drawings, and answers of the library.
import { AskView } from "/shared/ask.js";
import { button, counted, fill, make } from "/shared/elements.js";
import { explanationTree } from "../explanation_tree.js";
import { address, DigitPad } from "../pad.js";
import { latest, measurePaint } from "../timing.js";

/** Milliseconds of an answer with its reasons above which the answer is asked for alone, before. */
const BRIEF_ABOVE = 80;
const WORDS = ["no digits", "a digit", "two digits", "three digits", "four digits"];

class StudioAsk {
  constructor(place, studio) {
    Object.assign(this, { place, studio, view: null, row: null, reasonsTake: 0 });
    this.answer = latest(() => this.answered());
    this.peek = document.getElementById("peek");
    this.watch = new IntersectionObserver(([entry]) => {
      this.outOfSight = !entry.isIntersecting;
      this.showPeek();
    });
    this.writeRows();
  }

  // --- rows of the data ---

  writeRows() {
    const step = (text, label, by) => button(text, () => this.step(by), { class: "btn", "aria-label": label });
    this.name = make("input", {
      type: "text", "aria-label": "row, by its id or number", placeholder: "your own sample",
      onchange: () => this.studio.attempt(() => this.find(this.name.value)),
    });
    this.count = make("span", { class: "quiet" });
    this.label = make("p", { class: "small quiet" });
    this.nav = make(
      "div",
      { class: "rownav" },
      step("‹", "row before", -1), make("label", {}, this.name, this.count), step("›", "next row", 1),
    );
  }

  step(by) {
    const { rows } = this.studio.state;
    if (!rows) return;
    const { row } = this.studio.sample;
    const next = row === null ? (by > 0 ? 0 : rows - 1) : (row + by + rows) % rows;
    this.studio.setSample({ row: next, inputs: {} });
  }

  async find(text) {
    this.isCleared = !text.trim();
    if (this.isCleared) this.studio.setSample({ row: null, inputs: {} });
    else this.studio.setSample({ row: (await this.studio.ask("ask/find", { text })).row, inputs: {} });
  }

  showRow() {
    const { rows, reading } = this.studio.state;
    const { row } = this.studio.sample;
    this.nav.hidden = !rows && !reading;
    const id = this.row ? Object.values(this.row.ids)[0] : undefined;
    this.name.value = row === null ? "" : id ?? `row ${row + 1}`;
    const all = `${counted(rows)}${reading ? " so far" : ""}`;
    fill(this.count, row === null ? `of ${all}` : `${counted(row + 1)} of ${all}`);
    this.showLabel();
  }

  /** Say what the data has for the attribute that is asked about. */
  showLabel() {
    const target = this.row?.targets[this.view.question.attribute];
    const isValue = Number.isInteger(target);
    this.label.hidden = !isValue;
    fill(this.label, isValue ? `The data has ${this.view.attribute.title}: ${this.view.attribute.values[target]}.` : "");
  }

  // --- the view ---

  /** Make the view for the rules as they are now. */
  async load() {
    const form = await this.studio.ask("ask/form");
    this.version = form.version;
    const read = (a) => ({ formula: null, scale: null, ...a, values: form.domains[a.domain] });
    const described = { ...form, inputs: form.inputs.map(read), questions: form.questions.map(read) };
    const source = {
      answer: () => {
        if (this.reasonsTake > BRIEF_ABOVE) this.leaving?.abort();
        return this.answer();
      },
      explain: (_settings, question) => this.explained(question),
      pad: (attribute) => this.pad(attribute),
      changed: (name, setting) => this.put(name, setting),
      asked: (question) => {
        this.studio.setQuestion({ ...question });
        this.showLabel();
      },
      tell: (text, actions) => this.studio.tell(text, "note", actions),
    };
    const start = form.pictured.length ? await this.start(form) : null;
    this.view = new AskView(described, source, { start });
    const { question } = this.studio;
    if (described.questions.some(({ name }) => name === question?.attribute)) Object.assign(this.view.question, question);
    fill(this.view.head, this.nav, this.label);
    fill(this.place, this.view.element);
    this.watch.disconnect();
    this.watch.observe(this.view.verdict.element);
    const names = new Set(form.inputs.map(({ name }) => name));
    const kept = Object.entries(this.studio.sample.inputs).filter(([name]) => names.has(name));
    const sample = { ...this.studio.sample, inputs: Object.fromEntries(kept) };
    if (this.isWaiting && !kept.length && this.studio.state.rows) sample.row = 0;
    this.studio.setSample(sample);
  }

  /** Whether nobody has said anything of the sample yet: the first row is one to begin with. */
  get isWaiting() {
    const { row, inputs } = this.studio.sample;
    return !this.isCleared && !this.view.start && row === null && !Object.keys(inputs).length;
  }

  /** Return what is there before the first stroke: what to do, and examples of others. */
  async start({ pictured, examples }) {
    // The first inference loads compiled loops: not while somebody waits for it.
    this.studio.ask("ask/answer", { sample: { row: null, inputs: {} } }).catch(() => {});
    this.examples = make("div", {});
    await this.showExamples(pictured, examples);
    return {
      title: `Draw ${WORDS[pictured.length] ?? "digits"}`,
      text: "With the mouse, a pen or a finger. A network reads them, rules answer, and the answer says how certain it is. It follows every stroke.",
      examples: this.examples,
    };
  }

  /** Show examples, as soon as there are rows. */
  async showExamples(pictured, examples) {
    this.hasExamples = examples.length > 0;
    this.examples.hidden = !this.hasExamples;
    const rows = await Promise.all(examples.map((row) => this.studio.ask("ask/row", { row })));
    const take = (row) => this.studio.setSample({ row, inputs: {} });
    const images = (found) => pictured.map((name) => make("img", { src: found.images[name], alt: "" }));
    const example = (found) =>
      button(images(found), () => take(found.row), { class: "btn", "aria-label": `take row ${found.row + 1}` });
    fill(this.examples, make("h3", {}, "Or take some that somebody else wrote"), make("div", { class: "tries" }, rows.map(example)));
  }

  /** Show what came with rows that were read meanwhile. */
  async receiveRows() {
    if (!this.view.start || this.hasExamples || !this.studio.state.rows) return;
    const { pictured, examples } = await this.studio.ask("ask/form");
    await this.showExamples(pictured, examples);
  }

  pad(attribute) {
    return new DigitPad(this.studio, attribute, (image) => {
      const { view } = this;
      if (image) view.images[attribute.name] = address(image);
      else {
        delete view.images[attribute.name];
        view.rows.get(attribute.name).set({});
        view.pads.get(attribute.name).showReading({});
      }
      view.question.place = null;
      this.put(attribute.name, image ? { image } : {});
      view.update();
    });
  }

  /** Set an input by hand; the sample is shown already. */
  put(name, content) {
    performance.mark("sample-change");
    const { row, inputs } = this.studio.sample;
    this.own = { row, inputs: { ...inputs, [name]: content } };
    this.studio.setSample(this.own);
    this.studio.setQuestion({ ...this.view.question });
  }

  /** Show the sample of the studio, if it is another than the one that is shown. */
  async show() {
    const { sample } = this.studio;
    if (sample === this.own) return;
    this.own = sample;
    const { row, inputs } = sample;
    this.row = row === null ? null : await this.studio.ask("ask/row", { row });
    if (sample !== this.studio.sample) return; // it is another one meanwhile
    const set = Object.entries(inputs);
    const drawn = set.filter(([, content]) => content.image);
    const images = Object.entries(this.row?.images ?? {}).filter(([name]) => !(name in inputs));
    images.push(...drawn.map(([name, content]) => [name, address(content.image)]));
    const settings = { ...this.row?.inputs, ...Object.fromEntries(set.filter(([, content]) => !content.image)) };
    this.showRow();
    await this.view.show(settings, Object.fromEntries(images));
  }

  /** Ask the library: where reasons take long, for the answer first; drop reasons nobody waits for. */
  async answered() {
    const { view } = this;
    const { sample } = this.studio;
    const asked = { sample, ...view.question };
    const waiting = setTimeout(() => (view.verdict.busy = true), 150);
    const leaving = (this.leaving = new AbortController());
    const shown = [...performance.getEntriesByName("sample-change", "mark")].at(-1)?.startTime;
    performance.clearMarks("sample-change");
    const isLong = this.reasonsTake > BRIEF_ABOVE;
    try {
      if (isLong) {
        this.written(view, sample, await this.studio.ask("ask/answer", { ...asked, brief: true }));
        clearTimeout(waiting);
        measurePaint("answer-painted", shown);
        if (this.isOutdated(sample)) return;
      }
      const began = performance.now();
      const content = await this.studio.ask("ask/answer", asked, { signal: leaving.signal });
      this.reasonsTake = performance.now() - began;
      this.written(view, sample, content);
      if (!isLong) measurePaint("answer-painted", shown);
      measurePaint("reasons-painted", shown);
    } catch (error) {
      if (error.name !== "AbortError" && error.status !== 0) this.studio.tell(error.message, "error");
    } finally {
      clearTimeout(waiting);
      view.verdict.busy = false;
    }
    this.place.dataset.shown = JSON.stringify(sample);
  }

  /** Whether another sample is waiting for its answer. */
  isOutdated(sample) {
    return sample !== this.studio.sample;
  }

  /** Write an answer; what it says of drawings is shown beside them. */
  written(view, sample, content) {
    for (const [name, degrees] of Object.entries(content.readings)) {
      if (!this.studio.sample.inputs[name]?.image) continue; // it was wiped meanwhile
      view.rows.get(name).set({ degrees });
      view.pads.get(name)?.showReading({ degrees });
    }
    const isDrawn = Object.keys(view.images).length > 0;
    if (this.view === view && (isDrawn || !view.start || Object.keys(sample.inputs).length || sample.row !== null)) view.write(content);
    this.showPeek();
  }

  async explained({ attribute, place }) {
    const asked = { sample: this.studio.sample, attribute, place };
    const { explanation, images } = await this.studio.ask("ask/explain", asked);
    return explanationTree(explanation, images);
  }

  /** On phones, repeat the verdict while it is out of sight. */
  showPeek() {
    const answer = this.view.verdict.element.querySelector(".answer");
    this.peek.hidden = !this.outOfSight || this.studio.view !== "ask" || !this.view.content;
    const text = (name) => answer?.querySelector(name)?.textContent ?? "";
    fill(this.peek, make("b", {}, text(".value")), make("span", {}, text(".how")));
  }
}

/** Show the verdict on the sample. */
export async function open(place, studio) {
  const ask = new StudioAsk(place, studio);
  await ask.load();
  studio.addEventListener("sample", () => studio.attempt(() => ask.show()));
  studio.addEventListener("state", () => {
    if (studio.state.version !== ask.version) studio.attempt(() => ask.load().then(() => ask.show()));
    else if (ask.isWaiting && studio.state.rows) studio.setSample({ row: 0, inputs: {} });
    else {
      ask.showRow();
      studio.attempt(() => ask.receiveRows());
    }
  });
  studio.addEventListener("view", () => ask.showPeek());
  await ask.show();
}
