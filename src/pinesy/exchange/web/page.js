/** The page: samples and inputs on one side, what follows and why on the other. */

import { answersOn } from "./answers.js";
import { DistributionBars } from "./bars.js";
import { readCard, scoreCard } from "./card.js";
import { cardTable, predictionText } from "./card_view.js";
import { fill, make } from "./elements.js";
import { infer, readRules, winnersOf } from "./engine.js";
import { InputControl } from "./inputs.js";
import { verdictText } from "./outcomes.js";
import { decidingValues, readAs } from "./why.js";

const at = (id) => document.getElementById(id);

/** What is shown, and the sample that it is of. */
class WhatIf {
  constructor(data) {
    this.samples = data.samples;
    this.rules = readRules(data.rules);
    const { card } = data.rules;
    this.rules.card = card ? readCard(card, this.rules.attributes) : null;
    this.asked = null;
    this.controls = this.rules.inputs.map((a, i) => {
      const numbers = this.samples.map((sample) => sample.inputs[i].number ?? NaN);
      return new InputControl(a, () => this.update(), numbers.filter(Number.isFinite));
    });
    const pick = (attribute, place) => this.ask(attribute, place);
    this.bars = this.rules.sets.map(({ output }) => new DistributionBars(output, pick));
    this.write(data);
    this.open(0);
  }

  write(data) {
    fill(at("about"), data.about);
    fill(at("inputs"), this.controls.map((control) => control.element));
    const isOutput = (one) => this.rules.outputs.includes(one.attribute);
    fill(at("outputs"), this.bars.filter(isOutput).map((one) => one.element));
    // Of a score card the card is shown, not the rules that add and compare its points.
    const inner = this.rules.card ? [] : this.bars.filter((one) => !isOutput(one));
    at("scores").hidden = !this.rules.card;
    at("between").hidden = !inner.length;
    fill(at("inner"), inner.map((one) => one.element));
    at("between").addEventListener("toggle", () => this.showBars());
    if (this.samples.length) this.writeSamples();
  }

  writeSamples() {
    at("samples").hidden = false;
    const options = this.samples.map(({ title }, i) => make("option", { value: i }, title));
    fill(at("sample"), options);
    at("sample").addEventListener("change", () => this.open(Number(at("sample").value)));
    const step = (by) => () => this.open(Number(at("sample").value) + by);
    at("before").addEventListener("click", step(-1));
    at("after").addEventListener("click", step(1));
    at("again").addEventListener("click", step(0));
  }

  /** Look at a sample; without samples nothing is known of the inputs. */
  open(number) {
    const sample = this.samples[number] ?? null;
    if (sample) at("sample").value = number;
    at("before").disabled = number <= 0;
    at("after").disabled = number >= this.samples.length - 1;
    this.controls.forEach((control, i) => {
      control.set(sample?.inputs[i] ?? {}, sample?.images?.[i] ?? "");
    });
    this.images = new Map(this.rules.inputs.map((a, i) => [a, sample?.images?.[i] ?? null]));
    this.update();
  }

  /** Infer, and show what follows; nothing where an input is not normalised. */
  update() {
    const degrees = this.controls.map((control) => control.degrees);
    const valid = degrees.every((pi) => pi.includes(1));
    at("results").classList.toggle("stale", !valid);
    if (!valid) return;
    this.state = infer(this.rules, degrees, { before: this.state ?? null });
    this.showCard();
    this.showBars();
    this.showAnswers();
  }

  /** Show which class the score card predicts, and what its lines give. */
  showCard() {
    const { card } = this.rules;
    if (!card) return;
    this.scores = scoreCard(card, this.state.degrees);
    fill(at("predicted"), predictionText(card, this.scores));
    fill(at("card"), cardTable(card, this.scores));
  }

  showBars() {
    for (const bars of this.bars) {
      const isInner = !this.rules.outputs.includes(bars.attribute);
      const { number } = bars.attribute;
      if (!isInner || at("between").open) {
        const verdict = verdictText(this.state, bars.attribute);
        bars.show(this.state.degrees[number], this.state.heights[number], verdict);
      }
    }
    this.mark();
  }

  /** Ask about a value; by default about the winner of the first output. */
  ask(attribute, place) {
    this.asked = { attribute, place };
    this.showAnswers();
    at("answers").scrollIntoView({ block: "nearest" });
  }

  showAnswers() {
    const [first] = this.rules.outputs;
    const { attribute, place } = this.asked ?? { attribute: first, place: null };
    const predicted = this.rules.card?.output === attribute ? this.scores.best : null;
    const shown = place ?? predicted ?? winnersOf(this.state.degrees[attribute.number])[0];
    const plain = this.controls.every(({ setting }) => !setting.degrees);
    const attempt = (change) => this.attempt(change, plain);
    this.state.images = this.images;
    fill(at("answers"), answersOn(this.state, attribute, shown, plain, attempt));
    this.light(attribute, shown);
    this.mark();
  }

  /** Light the attributes that decide the degree of a value. */
  light(attribute, place) {
    const found = decidingValues(this.state, attribute, place).map((one) => one.attribute);
    const deciding = new Set(found);
    for (const one of [...this.controls, ...this.bars]) {
      one.element.classList.toggle("deciding", deciding.has(one.attribute));
    }
  }

  /** Mark the value that is asked about. */
  mark() {
    for (const row of document.querySelectorAll(".row")) {
      const { attribute, place } = this.asked ?? {};
      const same = attribute?.name === row.dataset.attribute && String(place) === row.dataset.place;
      row.setAttribute("aria-pressed", String(same));
    }
  }

  /** Set the input of a change. */
  attempt({ input, place }, plain) {
    const control = this.controls.find(({ attribute }) => attribute === input);
    const degrees = Array.from(readAs(control.degrees, place, plain));
    const crisp = plain && !input.scale;
    control.change(crisp ? { value: place } : { degrees });
    control.focus();
  }
}

globalThis.whatIf = new WhatIf(JSON.parse(at("data").textContent));
