// A curve of shares, for reports.
import { draw } from "/shared/elements.js";

/** Return a curve of shares against shares, from 0 to 1. */
export function curve(points, text) {
  const [width, height] = [320, 180];
  const lowest = Math.min(...points.map(([, right]) => right));
  const floor = Math.floor(10 * Math.min(lowest, 0.9)) / 10;
  const x = (share) => 40 + (width - 50) * share;
  const y = (right) => height - 25 - (height - 35) * ((right - floor) / (1 - floor));
  const line = points.map(([share, right]) => `${x(share).toFixed(1)},${y(right).toFixed(1)}`).join(" ");
  const label = (at, up, what, anchor) => draw("text", { x: at, y: up, "text-anchor": anchor }, what);
  return draw(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img", "aria-label": text },
    draw("path", { d: `M${x(0)},${y(1)}V${y(floor)}H${x(1)}`, class: "axes" }),
    draw("polyline", { points: line }),
    label(36, y(1) + 4, "1", "end"),
    label(36, y(floor) + 4, String(floor), "end"),
    label(x(0), height - 8, "0", "middle"),
    label(x(1), height - 8, "all", "middle"),
    label(x(0.5), height - 8, "the surest share", "middle"),
  );
}
