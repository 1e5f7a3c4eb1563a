// Views whose content is loaded again when what it depends on changes.
import { fill } from "/shared/elements.js";
import { failure } from "./tables.js";
import { latest } from "./timing.js";

export class FreshView {
  /** A view has a method `load()`, which is called when it is looked at and something changed. */
  constructor(place, studio, name) {
    Object.assign(this, { place, studio, stale: true, seen: "" });
    this.update = latest(() => this.load().catch((error) => this.fail(error)));
    studio.addEventListener("state", () => this.key !== this.seen && this.renew());
    studio.addEventListener("view", ({ detail }) => detail === name && this.due() && this.update());
  }

  /** What the content depends on: here rules and data, but for labels, which views change. */
  get key() {
    const { version, rows, reading } = this.studio.state;
    return `${version} ${rows} ${reading}`;
  }

  /** Return whether the content is to be loaded when the view is shown. */
  due() {
    return this.stale;
  }

  /** Show what went wrong in place of the content. */
  fail(error) {
    if (error.name !== "AbortError") fill(this.place, failure(error, () => this.renew()));
  }

  /** Look again, now or when the view is next seen. */
  renew() {
    this.stale = true;
    if (!this.place.hidden) this.update();
  }
}
