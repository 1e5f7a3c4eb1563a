// What the rooms that show figures of the data have in common: they are made anew when it changes.
import { latest } from "./timing.js";

export class RoomOfData {
  /** A room has a method `load()`, which is called when it is looked at and something changed. */
  constructor(place, studio, name) {
    Object.assign(this, { place, studio, stale: true, seen: "" });
    this.update = latest(() => studio.attempt(() => this.load()));
    studio.addEventListener("state", () => this.key !== this.seen && this.renew());
    studio.addEventListener("room", ({ detail }) => detail === name && this.stale && this.update());
  }

  /** What the figures depend on, but for labels, which are changed in a room. */
  get key() {
    const { version, rows, reading } = this.studio.state;
    return `${version} ${rows} ${reading}`;
  }

  renew() {
    this.stale = true;
    if (!this.place.hidden) this.update();
  }
}
