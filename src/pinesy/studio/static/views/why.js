import { DistributionBars } from "/shared/bars.js";
import { button, fill, listed, make } from "/shared/elements.js";
import { winnersOf } from "/shared/engine.js";
import { explanationTree } from "../explanation_tree.js";
import { FreshView } from "../fresh_view.js";
import { JobLine } from "../jobs.js";
import { checks, choice, field, fields, named, namesChecked } from "../tables.js";

/** Seconds that the search for a change may take, to choose from. */
const LIMITS = [3, 10, 60, 600];
/** Inputs that can be kept as they are one by one. */
const MOST_INPUTS = 100;

/** Why a value is as possible and as certain as it is, and why another is not. */
class WhyView extends FreshView {
  constructor(place, studio) {
    super(place, studio, "why");
    Object.assign(this, { version: null, shown: null, rival: null, asked: null, running: null });
    this.job = new JobLine(studio);
    this.write();
    studio.addEventListener("sample", () => this.renew());
  }

  get key() {
    return this.studio.state.version;
  }

  due() {
    return this.take() || this.stale;
  }

  /** Take the question of another view; return whether there was one. */
  take() {
    const { question } = this.studio;
    this.studio.question = null;
    if (!question) return false;
    this.attributes.value = question.attribute;
    this.asked = question.place;
    return true;
  }

  renew() {
    this.asked = null;
    super.renew();
  }

  write() {
    this.attributes = choice([], null, { onchange: () => this.choose() });
    this.level = make("input", {
      type: "number", min: 0.01, max: 0.999, step: "any", value: 0.95,
      onchange: () => this.update(),
    });
    this.levelField = field("Level", this.level);
    this.free = make("span", { class: "checks", onchange: () => this.asked !== null && this.update() });
    this.freeField = make("details", {}, make("summary", {}, "Inputs that may change"), this.free);
    this.seconds = choice(LIMITS.map((n) => [n, `${n} s`]), 10, {});
    this.answer = make("div", { class: "answer" });
    this.margin = make("p", { class: "margin" });
    this.levels = make("div", {});
    this.not = make("div", { class: "not", "aria-live": "polite" });
    this.bars = make("div", {});
    const copies = [["text", "Copy as text"], ["json", "Copy as JSON"], ["svg", "Copy as picture (SVG)"]];
    fill(
      this.place,
      fields(
        field("Conclusion", this.attributes),
        this.levelField,
        field("Search for a change", this.seconds),
        this.freeField,
      ),
      make(
        "div",
        { class: "columns" },
        make("div", {}, make("p", { class: "quiet" }, "Click a value to ask why, or why not."), this.bars, this.levels),
        make("div", {}, this.answer, this.margin, this.job.element, this.not),
      ),
      fields(
        ...copies.map(([form, text]) => button(text, () => this.copy(form))),
        button("Save the picture", () => this.save()),
      ),
    );
  }

  async conclusions() {
    const { version, final, others, inputs, guarantee } = await this.studio.ask("why/conclusions");
    if (version === this.version) return;
    this.version = version;
    this.calibrated = guarantee !== null;
    this.levelField.hidden = !this.calibrated;
    this.showInputs(inputs);
    const names = [...final, ...others];
    const kept = names.includes(this.attributes.value) ? this.attributes.value : names[0];
    const groups = [["Outputs", final], ["In between", others]].filter(([, list]) => list.length);
    fill(this.attributes, groups.map(([label, list]) => make("optgroup", { label }, named(list, kept))));
  }

  /** Offer to keep inputs as they are; not where they are too many to look through. */
  showInputs(inputs) {
    this.freeField.hidden = inputs.length < 2 || inputs.length > MOST_INPUTS;
    fill(this.free, this.freeField.hidden ? [] : checks(inputs));
  }

  choose() {
    this.asked = null;
    this.update();
  }

  get question() {
    return {
      sample: this.studio.sample,
      attribute: this.attributes.value,
      place: this.asked,
      level: this.calibrated ? Number(this.level.value) : null,
    };
  }

  async load() {
    await this.conclusions();
    this.seen = this.version;
    this.stale = false;
    const found = await this.studio.ask("why/explain", this.question);
    this.shown = found;
    this.rival = null;
    this.showBars(found);
    this.showAnswer(found);
    if (this.asked !== null && !this.wins(found, this.asked)) await this.askWhyNot();
    else this.forget();
  }

  /** Nobody waits for the last why-not any more. */
  forget() {
    if (!this.job.element.hidden) this.job.end();
    this.job.job = null;
    this.job.element.hidden = true;
    fill(this.not);
  }

  wins({ explanation }, place) {
    const winners = winnersOf(explanation.distribution.map(({ possibility }) => possibility));
    return winners.length === 1 && winners[0] === place;
  }

  showBars({ explanation, values }) {
    const attribute = { name: explanation.attribute, values, formula: null };
    const bars = new DistributionBars(attribute, (_, place) => this.pick(place));
    const degrees = explanation.distribution.map(({ possibility }) => possibility);
    bars.show(degrees, 1 - explanation.contradiction, explanation.verdict);
    fill(this.bars, bars.element);
    for (const row of bars.element.querySelectorAll(".row")) {
      row.setAttribute("aria-pressed", String(Number(row.dataset.place) === this.asked));
    }
  }

  async pick(place) {
    this.asked = place;
    await this.update();
    const row = this.bars.querySelector(`.row[data-place="${place}"]`);
    row?.focus();
  }

  showAnswer({ explanation, images, marginText, levels, points }) {
    const pictures = Object.entries(images).map(([name, address]) =>
      make("figure", {}, make("img", { src: address, alt: "" }), make("figcaption", {}, name)),
    );
    fill(
      this.answer,
      make("h2", {}, `Why ${explanation.proposition.text}?`),
      pictures.length ? make("div", { class: "pictures" }, ...pictures) : null,
      points ? make("pre", { class: "points", tabindex: 0 }, points) : explanationTree(explanation, images),
    );
    fill(this.margin, marginText);
    fill(this.levels, ...(levels ? this.levelLines(levels) : []));
  }

  levelLines({ level, members, excludedAt, verdict, guarantee }) {
    const { values } = this.shown;
    const left = values.filter((_, i) => members[i]);
    const out = values.map((value, i) => [value, excludedAt[i]]).filter((_, i) => !members[i]);
    const line = ([value, z]) => make("li", {}, `${value}: excluded up to ${(100 * z).toFixed(2)} %`);
    return [
      make("h2", {}, `At ${100 * level} %`),
      make("p", {}, `${verdict}.`),
      make("p", {}, `${left.length === 1 ? "One value remains" : `${left.length} values remain`}${left.length ? ": " : ""}${listed(left, "and", 20)}.`),
      make("ul", {}, ...out.sort((a, b) => a[1] - b[1]).slice(0, 8).map(line)),
      make("p", { class: "quiet" }, guarantee),
    ];
  }

  async askWhyNot() {
    fill(this.not, make("h2", {}, `Why not ${this.shown.values[this.asked]}?`), make("p", {}, "…"));
    const asked = { ...this.question, seconds: Number(this.seconds.value), keep: namesChecked(this.free, false), instead: this.running };
    const status = await this.studio.ask("why/ask_why_not", asked);
    this.running = status.job;
    this.job.run(status).then((last) => last && this.showWhyNot(last)).catch(() => {});
  }

  showWhyNot({ state, result, error, job }) {
    this.rival = state === "done" ? job : null;
    if (state !== "done") {
      fill(this.not, make("p", {}, state === "failed" ? error : "The question was stopped."));
      return;
    }
    const [first, ...lines] = result.answer.split("\n");
    const change = result.set && button("Try this change", () => this.attempt(result.set));
    fill(
      this.not,
      make("h2", {}, `Why not ${result.title}?`),
      make("p", {}, first),
      make("ul", {}, ...lines.map((text) => make("li", {}, text.trim()))),
      change || null,
    );
  }

  /** Change the sample as the answer says. */
  attempt(inputs) {
    const { row, inputs: before } = this.studio.sample;
    this.studio.setSample({ row, inputs: { ...before, ...inputs } });
  }

  async content(form) {
    const asked = { ...this.question, form, job: form === "svg" ? null : this.rival };
    return (await this.studio.ask("why/copy", asked)).content;
  }

  copy(form) {
    return this.studio.attempt(async () => {
      await navigator.clipboard.writeText(await this.content(form));
      this.studio.tell("Copied.", "note");
    });
  }

  save() {
    return this.studio.attempt(async () => {
      const drawn = await this.content("svg");
      this.studio.download(`${this.attributes.value}.svg`, drawn, "image/svg+xml");
    });
  }
}

/** Fill the view. */
export async function open(place, studio) {
  const { row, inputs } = studio.sample;
  if (row === null && !Object.keys(inputs).length && studio.state.rows) {
    studio.setSample({ row: 0, inputs: {} });
  }
  const view = new WhyView(place, studio);
  await view.update();
}
