// Work that takes longer than a page waits: how far it is, and a button that stops it.
import { button, counted, fill, make } from "/shared/elements.js";

const isOver = ({ state }) => state !== "waiting" && state !== "running";

/** Look at a job again and again until it is over; `seen` is given every status. */
export async function follow(studio, status, seen) {
  let wait = 50;
  while (!isOver(status)) {
    seen(status);
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(500, 1.5 * wait);
    status = await studio.ask("shell/job", { job: status.job });
  }
  seen(status);
  return status;
}

/** Return how far a job is, in words. */
export function progressText({ state, kind, label, done, total, seconds, limit }) {
  if (state === "waiting") return `${kind}: waits for other work`;
  const far = total ? `${counted(done)} of ${counted(total)}` : "";
  const time = `${seconds.toFixed(1)} s${limit === null ? "" : ` of ${limit} s at most`}`;
  return [label || kind, far, time].filter(Boolean).join(" · ");
}

/** A line for one job at a time: a bar, words, and Stop. It is hidden while nothing runs. */
export class JobLine {
  constructor(studio) {
    this.studio = studio;
    this.job = null;
    this.bar = make("progress", { "aria-label": "progress" });
    this.text = make("span", {});
    const stop = button("Stop", () => this.end());
    this.element = make("p", { class: "job", hidden: true }, this.bar, this.text, stop);
  }

  /** Show a job to its end; return its last status, or undefined if another took its place. */
  async run(status) {
    const number = (this.job = status.job);
    const last = await follow(this.studio, status, (seen) => this.job === number && this.show(seen));
    return this.job === number ? last : undefined;
  }

  show(status) {
    this.element.hidden = isOver(status);
    if (status.total) Object.assign(this.bar, { max: status.total, value: status.done });
    else this.bar.removeAttribute("value");
    fill(this.text, progressText(status));
  }

  end() {
    return this.studio.attempt(() => this.studio.ask("shell/stop", { job: this.job }));
  }
}
