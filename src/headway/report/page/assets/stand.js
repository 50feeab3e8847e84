// The triangle of blocks as a drawing: its frame, the ways of the heads, and a head with its number.
import { css } from "./colour.js";
import { evaluationMasses } from "./data.js";
import { drawn } from "./dom.js";
import { placeName, placesOf } from "./terms.js";
import { allHeads, inkOn, STROKES } from "./pictures.js";
import { corners, extent, pointOf, spread } from "./simplex.js";

const EDGE = { across: 32, top: 30, bottom: 32 };
const SMALL_EDGE = { across: 14, top: 12, bottom: 12 };
export const CHIP = 9; // radius of a head's number

/** Where a point lies in a drawing of this width. */
export function triangleLayout(count, width, edge = EDGE) {
  const places = corners(count);
  const { left, right, top, bottom } = extent(places);
  const unit = Math.min(
    (width - 2 * edge.across) / Math.max(1, right - left),
    (330 - edge.top - edge.bottom) / Math.max(0.5, bottom - top),
  );
  const middle = width / 2 - (unit * (left + right)) / 2;
  const height = edge.top + edge.bottom + unit * Math.max(0.2, bottom - top);
  return { places, width, height, at: ([x, y]) => [middle + unit * x, edge.top + unit * (y - top)] };
}

/** A line through the points that are there. */
export function pathThrough(points) {
  const known = points.filter(([x, y]) => Number.isFinite(x + y));
  return known.length ? `M ${known.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join(" L ")}` : "";
}

/** The points of every head along the evaluations: [head][time]. */
export function ways(run, seed, layer) {
  const places = corners(run.groups.length);
  const masses = run.shareTimes.map((_, time) => evaluationMasses(run, seed, layer, time));
  return allHeads(run).map((head) => masses.map((heads) => pointOf(heads[head].blocks, places)));
}

function frameOf({ places, at }) {
  const ends = places.map(at);
  const centre = at([0, 0]);
  const line = ends.length > 2 ? `${pathThrough(ends)} Z` : pathThrough(ends.length < 2 ? [...ends, centre] : ends);
  return [
    drawn("path", { class: "frame-line", d: line }),
    drawn("circle", { class: "centre", cx: centre[0], cy: centre[1], r: 2.5 }),
  ];
}

/** "block 2" -> "2"; of other names the beginning. */
const shortName = (name) => name.match(/ (\d+)$/)?.[1] ?? name.slice(0, 4);

/** The frame with a name at each corner. */
export function outline(run, layout, palette) {
  const names = layout.places.map((place, block) => {
    const [x, y] = layout.at(place);
    // A whole word has room above and below, beside the corners only a number.
    const aside = layout.places.length > 2 && Math.abs(place[1]) < 0.3;
    const spot = aside ? { x: x + 12 * Math.sign(place[0]), y: y + 4 } : { x, y: y + (place[1] > 0 ? 24 : -14) };
    const name = placeName(placesOf(run), block);
    const look = { "text-anchor": "middle", "font-size": 12, "font-weight": 600, fill: palette.groupWords[block] };
    return drawn("text", { ...spot, ...look }, aside ? shortName(name) : name);
  });
  return [frameOf(layout), names];
}

/** The parts of one head: its whole way, the way so far, where it is, and its number, perhaps a little aside. */
export function headParts(head, palette) {
  const colour = css(palette.heads[head]);
  const dashes = STROKES[head % STROKES.length];
  const way = (name, width) =>
    drawn("path", { class: name, stroke: colour, "stroke-width": width, "stroke-dasharray": dashes });
  const look = { class: "head-number", "text-anchor": "middle", fill: inkOn(palette.heads[head]) };
  return {
    whole: way("whole", 1.5),
    past: way("past", 2.5),
    tether: drawn("path", { class: "tether", stroke: colour }),
    dot: drawn("circle", { r: 3.5, fill: colour }),
    flag: drawn("circle", { class: "flag", r: CHIP, fill: colour }),
    word: drawn("text", look, `${head + 1}`),
  };
}

/** Put the parts of each head at its point; numbers that would cover each other are moved apart. */
export function placeHeads(parts, points) {
  const apart = spread(points, 2 * CHIP + 1);
  parts.forEach(({ tether, dot, flag, word }, head) => {
    const [x, y] = apart[head];
    const known = Number.isFinite(x + y);
    for (const part of [tether, dot, flag, word]) part.style.display = known ? "" : "none";
    if (!known) return;
    for (const [circle, [left, top]] of [[dot, points[head]], [flag, [x, y]]]) {
      circle.setAttribute("cx", left.toFixed(1));
      circle.setAttribute("cy", top.toFixed(1));
    }
    tether.setAttribute("d", pathThrough([points[head], [x, y]]));
    word.setAttribute("x", x.toFixed(1));
    word.setAttribute("y", (y + 4).toFixed(1));
  });
}

/** A still of a moment, without names or ways. */
export function sketch(run, { seed, layer, time }, palette, width) {
  const layout = triangleLayout(run.groups.length, width, SMALL_EDGE);
  const masses = evaluationMasses(run, seed, layer, run.shareNearest[time]);
  const parts = allHeads(run).map((head) => headParts(head, palette));
  const points = masses.map(({ blocks }) => layout.at(pointOf(blocks, layout.places)));
  if (points.length === parts.length) placeHeads(parts, points);
  const shown = parts.map(({ tether, dot, flag, word }) => [tether, dot, flag, word]);
  const size = { width, height: layout.height, viewBox: `0 0 ${width} ${layout.height}` };
  return drawn("svg", size, frameOf(layout), points.length ? shown : []);
}
