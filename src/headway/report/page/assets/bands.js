// Under the charts, on their time axis: how much the heads compete, and where each head's attention goes.
import { css, paletteOf } from "./colour.js";
import { evaluationMasses, hasShares, nearestIndex } from "./data.js";
import { drawn, element } from "./dom.js";
import { MARGIN } from "./figure.js";
import { allHeads, inkOn, shownLayers, tellAtPointer } from "./pictures.js";
import { shownSeeds } from "./stages.js";
import { headName, placesOf, when } from "./terms.js";
import { number, percent, sentence } from "./words.js";

const INDEX = 54; // height of the chart of the index
const BAND = 24; // and of a head's band
const STEP = 29; // from one band to the next
const TITLE = 24;

/**
 * Mean over pairs of heads i < j of sum_k b_i[k] b_j[k]; NaN for one head, which has no pair. As in docs/measures.md, by
 * sum_{i<j} b_i b_j = ((sum b)^2 - sum b^2) / 2.
 */
export function competitionOf(masses) {
  const pairs = (masses.length * (masses.length - 1)) / 2;
  let twice = 0;
  for (let block = 0; block < (masses[0]?.blocks.length ?? 0); block++) {
    let [sum, squares] = [0, 0];
    for (const { blocks } of masses) {
      sum += blocks[block];
      squares += blocks[block] ** 2;
    }
    twice += sum ** 2 - squares;
  }
  return pairs ? twice / 2 / pairs : NaN;
}

const indices = new WeakMap();

/** The index along the times at which shares were measured: [seed][time], of one layer, computed once. */
function indexOf(run, layer) {
  if (!indices.has(run)) indices.set(run, new Map());
  const known = indices.get(run);
  if (!known.has(layer)) {
    const curve = (_, seed) => run.shareTimes.map((_, time) => competitionOf(evaluationMasses(run, seed, layer, time)));
    known.set(layer, run.seeds.map(curve));
  }
  return known.get(layer);
}

/** The stacked shares of a head over time, as the outlines of areas: [block] -> points of the path. */
export function areas(shares, xs, top, height) {
  const count = shares[0]?.length ?? 0;
  const edges = shares.map((blocks) => {
    const known = blocks.map((share) => (Number.isFinite(share) ? Math.max(0, share) : 0));
    const scale = 1 / Math.max(1, known.reduce((sum, share) => sum + share, 0)); // overlapping blocks count twice
    let sum = 0;
    return [0, ...known.map((share) => (sum += share * scale))];
  });
  const y = (edge) => top + height * (1 - edge);
  const point = (time, edge) => `${xs[time].toFixed(1)} ${y(edges[time][edge]).toFixed(1)}`;
  const times = xs.map((_, time) => time);
  return Array.from({ length: count }, (_, block) => {
    const upper = times.map((time) => point(time, block + 1));
    const lower = times.toReversed().map((time) => point(time, block));
    return `M ${[...upper, ...lower].join(" L ")} Z`;
  });
}

const heading = (y, words, theme) =>
  drawn("text", { x: 4, y, "font-size": 13, "font-weight": 600, fill: theme.ink }, words);

/** The chart of the index: the chosen seed firm, the others faint. */
function indexChart(run, state, { x, left, right }, top, theme) {
  const curves = indexOf(run, state.layer);
  const most = Math.max(1e-6, ...curves.flat().filter(Number.isFinite));
  const y = (value) => top + INDEX * (1 - value / most);
  const path = (seed, look) => {
    const points = curves[seed].flatMap((value, time) =>
      Number.isFinite(value) ? [`${x(run.shareTimes[time]).toFixed(1)} ${y(value).toFixed(1)}`] : [],
    );
    return drawn("path", { class: "index", d: points.length ? `M ${points.join(" L ")}` : "", stroke: theme.ink, ...look });
  };
  const others = shownSeeds(run, state).filter((seed) => seed !== state.seed);
  const mark = (value) =>
    drawn("text", { x: left - 5, y: y(value) + 4, "text-anchor": "end", "font-size": 12, fill: theme.muted }, number(value));
  return {
    lines: [
      others.map((seed) => path(seed, { "stroke-width": 1, "stroke-opacity": 0.3 })),
      path(state.seed, { "stroke-width": 2 }),
    ],
    frame: [
      drawn("line", { x1: left, x2: right, y1: y(0), y2: y(0), stroke: theme.rule }),
      mark(0),
      mark(Number(most.toPrecision(2))),
    ],
  };
}

/** A band a head: the head's number on its colour, its shares in the colours of the blocks. */
function headBand(run, state, layer, head, { x, left, right }, top, palette, theme) {
  const shares = run.shareTimes.map((_, time) => evaluationMasses(run, state.seed, layer, time)[head].blocks);
  const xs = run.shareTimes.map(x);
  const box = { x: left - 26, y: top + 3, width: 20, height: 18, rx: 4, fill: css(palette.heads[head]) };
  const look = { x: left - 16, y: top + 16, "text-anchor": "middle", "font-size": 12, "font-weight": 700 };
  const several = shownLayers(run, state).length > 1;
  return {
    lines: areas(shares, xs, top, BAND).map((d, block) => drawn("path", { d, fill: palette.groups[block] })),
    frame: [
      drawn("rect", { x: left, y: top, width: right - left, height: BAND, fill: "none", stroke: theme.rule }),
      drawn("rect", box),
      drawn("text", { ...look, fill: inkOn(palette.heads[head]) }, `${head + 1}`),
      several ? drawn("text", { x: left - 30, y: top + 16, "text-anchor": "end", "font-size": 11, fill: theme.muted }, `L${layer + 1}`) : null,
    ],
  };
}

/** The key of the bands, ending at `right`: a square a block, and its number where "block" need not be repeated. */
function keyOf(run, palette, y, right, theme) {
  const { names } = placesOf(run);
  const numbered = names.every((name) => / \d+$/.test(name));
  const words = names.map((name) => (numbered ? name.match(/\d+$/)[0] : name));
  const widths = words.map((word) => 24 + 6.6 * word.length);
  const starts = widths.map((_, k) => right - widths.slice(k).reduce((sum, width) => sum + width, 0));
  const word = { y, "font-size": 12, fill: theme.muted };
  return [
    numbered ? drawn("text", { ...word, x: starts[0] - 6, "text-anchor": "end" }, run.place) : null,
    words.map((name, block) => [
      drawn("rect", { x: starts[block], y: y - 10, width: 11, height: 11, fill: palette.groups[block] }),
      drawn("text", { ...word, x: starts[block] + 15 }, name),
    ]),
  ];
}

let clips = 0;

/** `place` is {axis, range, width, right}: where the charts above have their time. Its height is 0 where there is nothing. */
export function makeBands(report, selection) {
  const host = element("div", { class: "bands" });
  const { state } = selection;
  const run = () => report.runs[state.run];
  let scale = null;
  const draw = ({ axis, range, width, right: margin }, theme) => {
    host.hidden = !hasShares(run());
    if (host.hidden) return 0;
    const [first, last] = range;
    const [left, right] = [MARGIN.l, width - margin];
    const x = (time) => left + ((right - left) * (axis.coordinate(axis.place(time)) - first)) / (last - first);
    scale = { left, right, first, last, axis };
    const palette = paletteOf(run());
    const rows = shownLayers(run(), state).flatMap((layer) => allHeads(run()).map((head) => ({ layer, head })));
    const several = run().heads > 1;
    const top = several ? 2 * TITLE + INDEX + 6 : TITLE;
    const layerWords = run().layers > 1 ? `, layer ${state.layer + 1}` : "";
    const index = several ? indexChart(run(), state, { x, left, right }, TITLE, theme) : { lines: [], frame: [] };
    const bands = rows.map(({ layer, head }, k) =>
      headBand(run(), state, layer, head, { x, left, right }, top + k * STEP, palette, theme),
    );
    const height = top + rows.length * STEP;
    const clip = `bands-${++clips}`;
    const narrow = width < 520;
    const key = keyOf(run(), palette, narrow ? height + 14 : top - 8, right, theme);
    const full = height + (narrow ? 22 : 4);
    const svg = drawn(
      "svg",
      { width, height: full, viewBox: `0 0 ${width} ${full}`, role: "img", "aria-label": wordsNow() },
      drawn("clipPath", { id: clip }, drawn("rect", { x: left, y: 0, width: right - left, height: full })),
      several ? heading(15, `Competition index${layerWords}`, theme) : null,
      heading(top - 8, `Attention of each head, seed ${run().seeds[state.seed]}`, theme),
      drawn("g", { "clip-path": `url(#${clip})` }, index.lines, bands.map(({ lines }) => lines)),
      index.frame,
      bands.map(({ frame }) => frame),
      key,
    );
    host.replaceChildren(svg);
    return full;
  };
  const wordsNow = () => {
    const time = run().shareNearest[state.time] ?? 0;
    const shares = evaluationMasses(run(), state.seed, state.layer, time);
    const each = shares.map(({ blocks }, head) => `head ${head + 1}: ${blocks.map(percent).join(", ")}`);
    return `Share of each head's attention on ${placesOf(run()).names.join(", ")}. ${each.join("; ")}`;
  };
  const timeAt = (event) => {
    const { left, right, first, last, axis } = scale;
    const along = (event.clientX - host.getBoundingClientRect().left - left) / (right - left);
    const at = first + along * (last - first);
    return along < 0 || along > 1 ? null : axis.type === "log" ? 10 ** at : at;
  };
  host.addEventListener("click", (event) => {
    const time = scale && timeAt(event);
    if (time !== null) selection.set({ time: nearestIndex(run().times, time), playing: false });
  });
  tellAtPointer(host, (event) => {
    const time = scale && timeAt(event);
    if (time === null) return null;
    const nearest = nearestIndex(run().shareTimes, time);
    const masses = evaluationMasses(run(), state.seed, state.layer, nearest);
    const index = competitionOf(masses);
    const each = masses.map(({ blocks }, head) => `${headName(run(), state.layer, head)}: ${blocks.map(percent).join(", ")}`);
    return [
      sentence(when(run(), run().shareTimes[nearest])),
      ...(Number.isFinite(index) ? [`competition index ${number(index)}`] : []),
      ...each,
    ];
  });
  return { host, draw };
}
