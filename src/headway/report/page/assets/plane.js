// The plane of a portrait as a drawing: its frame, the region, the field, the curves and the orbits.
import { drawn } from "./dom.js";
import { number } from "./words.js";

const EDGES = { left: 42, right: 12, top: 10, bottom: 40 };
const ARROW = 11; // pixels from end to end

/** Where a point (x, y) of the plane lies in a drawing of this width. */
export function planeLayout({ window: [left, right] }, width) {
  const height = Math.round(Math.max(240, Math.min(430, 0.66 * width)));
  const [across, up] = [width - EDGES.left - EDGES.right, height - EDGES.top - EDGES.bottom];
  return {
    width,
    height,
    across,
    up,
    x: (x) => EDGES.left + (across * (x - left)) / (right - left),
    y: (y) => EDGES.top + up * (1 - y),
  };
}

const spot = (layout, x, y) => `${layout.x(x).toFixed(1)} ${layout.y(y).toFixed(1)}`;

/** The points [[x, y], ..] as a line; numbers that are not there break nothing off but themselves. */
export function lineThrough(layout, points) {
  const known = points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  return known.length ? `M ${known.map(([x, y]) => spot(layout, x, y)).join(" L ")}` : "";
}

/** A grid of (point, 2) as [[x, y], ..]. */
export const pairsOf = (grid) => Array.from({ length: grid.shape[0] }, (_, k) => [...grid.row(k)]);

/** The orbit number `orbit` of a grid (time, orbit, 2). */
export const orbitOf = (grid, orbit) => Array.from({ length: grid.shape[0] }, (_, t) => [...grid.row(t, orbit)]);

/** Which way the flow goes: arrows of one length, for speeds differ a thousandfold. */
function arrows({ arrays: { places, field } }, layout) {
  const [rows, columns] = places.shape;
  const cells = Array.from({ length: rows * columns }, (_, k) => [Math.floor(k / columns), k % columns]);
  return cells.flatMap(([row, column]) => {
    const [x, y] = places.row(row, column);
    const [vx, vy] = field.row(row, column);
    const [dx, dy] = [layout.x(x + vx) - layout.x(x), layout.y(y + vy) - layout.y(y)];
    const length = Math.hypot(dx, dy);
    if (!(length > 0)) return [];
    const [ux, uy] = [(dx / length) * ARROW, (dy / length) * ARROW];
    const [cx, cy] = [layout.x(x), layout.y(y)];
    const at = (along, aside) =>
      `${(cx + along * ux - aside * uy).toFixed(1)} ${(cy + along * uy + aside * ux).toFixed(1)}`;
    return [`M ${at(-0.5, 0)} L ${at(0.5, 0)} M ${at(0.15, 0.2)} L ${at(0.5, 0)} L ${at(0.15, -0.2)}`];
  });
}

function frame(portrait, layout, theme) {
  const [left, right] = portrait.window;
  const next = portrait.known + 1;
  const gap = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find((step) => (right - left) / step <= 7) ?? 100;
  const marks = [];
  for (let k = Math.ceil(left / gap); k * gap <= right; k++) marks.push(k * gap);
  const small = { "font-size": 12, fill: theme.muted };
  const bottom = layout.y(0);
  const middle = layout.x((left + right) / 2);
  const upright = `rotate(-90 12 ${layout.y(0.5)})`;
  return [
    drawn("rect", { class: "frame-line", x: layout.x(left), y: layout.y(1), width: layout.across, height: layout.up }),
    marks.map((mark) => {
      const words = number(mark).replace("-", "−");
      return drawn("text", { x: layout.x(mark), y: bottom + 16, "text-anchor": "middle", ...small }, words);
    }),
    [0, 0.5, 1].map((mark) =>
      drawn("text", { x: layout.x(left) - 6, y: layout.y(mark) + 4, "text-anchor": "end", ...small }, number(mark)),
    ),
    drawn("text", { x: layout.x(right) - 8, y: bottom - 8, "text-anchor": "end", ...small }, "φ > 0"),
    drawn("text", { x: middle, y: bottom + 34, "text-anchor": "middle", ...small }, `value x along feature ${next}`),
    drawn(
      "text",
      { x: 12, y: layout.y(0.5), "text-anchor": "middle", transform: upright, ...small },
      `attention y on position ${next}`,
    ),
  ];
}

let planes = 0;

/** Everything that stays: an <svg> with an empty <g class="moving"> on top. */
export function drawPlane(portrait, layout, theme) {
  const { arrays, window: [left, right] } = portrait;
  const clip = `plane-${++planes}`;
  const border = pairsOf(arrays.border);
  const region = [[0, 0], [right, 0], ...border, [0, 1]];
  const orbits = Array.from({ length: arrays.orbits.shape[1] }, (_, k) => orbitOf(arrays.orbits, k));
  const line = (name, points) => drawn("path", { class: name, d: lineThrough(layout, points) });
  const inside = { x: layout.x(left), y: layout.y(1), width: layout.across, height: layout.up };
  const moving = drawn("g", { class: "moving" });
  const svg = drawn(
    "svg",
    { width: layout.width, height: layout.height, viewBox: `0 0 ${layout.width} ${layout.height}`, role: "img" },
    drawn("clipPath", { id: clip }, drawn("rect", inside)),
    drawn(
      "g",
      { "clip-path": `url(#${clip})` },
      drawn("path", { class: "region", d: `${lineThrough(layout, region)} Z` }),
      drawn("path", { class: "arrows", d: arrows(portrait, layout).join(" ") }),
      orbits.map((points) => line("orbit", points)),
      arrays.lost ? line("lost", pairsOf(arrays.lost)) : null,
      line("rest", [[left, 0], [right, 0]]),
      line("rest", pairsOf(arrays.rest)),
    ),
    frame(portrait, layout, theme),
    moving,
  );
  return { svg, moving };
}
