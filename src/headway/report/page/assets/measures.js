// What a task measures of every head, as small charts, layers down and heads across, with the slider's time in each.
import { css, paletteOf } from "./colour.js";
import { medianCurve, seedCurve, timeAxis } from "./curves.js";
import { measureTimes, nearestIndex, shownTime } from "./data.js";
import { drawn, element } from "./dom.js";
import { chip } from "./pictures.js";
import { countedSeeds, shownSeeds } from "./stages.js";
import { headName, oneHeadEach } from "./terms.js";
import { number, sentence } from "./words.js";

const CHART = { width: 150, height: 60 };
const MANY_CHARTS = 6; // heads, of which each has room for two digits only

/** The points of a curve that are there, as a path; a missing one leaves a gap. */
export function pathOf(xs, ys, y) {
  let open = false;
  return ys
    .map((value, k) => {
      if (value === null) return (open = false) || "";
      const move = open ? "L" : "M";
      open = true;
      return `${move} ${xs[k].toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join(" ");
}

/** The lowest and the highest value of all, with 0 between them. */
export function rangeOf(grid) {
  let [low, high] = [0, 1e-6];
  for (const value of grid.values) if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return [low, high];
}

export function mountMeasures(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let charts = []; // {grid, times, layer, head, x, line, dot, words}

  const makeChart = (grid, times, layer, head, [low, high]) => {
    const palette = paletteOf(run());
    const colour = css(palette.heads[head]);
    const axis = timeAxis(times, state.logTime, true);
    const [first, last] = axis.range;
    const x = (step) => (CHART.width * (axis.coordinate(axis.place(step)) - first)) / (last - first || 1);
    const y = (value) => CHART.height - 2 - ((CHART.height - 4) * (value - low)) / (high - low || 1);
    const xs = times.map(x);
    const pick = (seed, time) => grid.at(seed, time, layer, head);
    const shown = shownSeeds(run(), state);
    const others = shown.filter((seed) => seed !== state.seed);
    const trace = (ys, look) => drawn("path", { d: pathOf(xs, ys, y), fill: "none", stroke: colour, ...look });
    const counted = countedSeeds(run(), shown);
    const own = seedCurve(run(), state.seed, pick, times);
    const lines = [
      others.map((seed) => trace(seedCurve(run(), seed, pick, times), { "stroke-width": 0.8, "stroke-opacity": 0.35 })),
      counted.length > 1 ? trace(medianCurve(run(), counted, pick, times), { "stroke-width": 1, "stroke-dasharray": "3 2" }) : null,
      trace(own, { "stroke-width": 2 }),
    ];
    const line = drawn("line", { class: "now", y1: 0, y2: CHART.height });
    const dot = drawn("circle", { r: 3, fill: colour });
    const base = drawn("line", { class: "base", x1: 0, x2: CHART.width, y1: CHART.height, y2: CHART.height });
    const words = element("span", { class: "quiet" });
    const svg = drawn("svg", { viewBox: `0 0 ${CHART.width} ${CHART.height + 2}`, role: "img" }, base, lines, line, dot);
    const title = headName(run(), layer, head);
    const mark = oneHeadEach(run()) ? sentence(title) : chip(head, palette);
    const caption = element("figcaption", {}, mark, words);
    svg.addEventListener("click", (event) => {
      const edge = svg.getBoundingClientRect();
      const at = first + ((event.clientX - edge.left) / edge.width) * (last - first);
      selection.set({ time: nearestIndex(run().times, axis.type === "log" ? 10 ** at : at), playing: false });
    });
    const figure = element("figure", { class: "small-chart", title: sentence(title) }, caption, svg);
    return { grid, times, layer, head, x, y, line, dot, words, svg, title, figure };
  };
  const follow = () => {
    const step = shownTime(run(), state.seed, run().times[state.time] ?? 0);
    for (const { grid, times, layer, head, x, y, line, dot, words, svg, title } of charts) {
      const value = grid.at(state.seed, nearestIndex(times, step), layer, head);
      const place = x(step).toFixed(1);
      line.setAttribute("x1", place);
      line.setAttribute("x2", place);
      dot.style.display = Number.isFinite(value) ? "" : "none";
      dot.setAttribute("cx", place);
      if (Number.isFinite(value)) dot.setAttribute("cy", y(value).toFixed(1));
      words.textContent = number(grid.shape[3] > MANY_CHARTS && Number.isFinite(value) ? Number(value.toPrecision(2)) : value);
      svg.setAttribute("aria-label", `${title}: ${words.textContent} now`);
    }
  };
  const section = ({ array, words }) => {
    const grid = run().arrays[array];
    const times = measureTimes(run(), array);
    const range = rangeOf(grid);
    const [layers, heads] = grid.shape.slice(2);
    const rowOf = (columns, figures) => element("div", { class: "small-charts row", style: { "--columns": columns } }, figures);
    const rows = Array.from({ length: layers }, (_, layer) => {
      const own = Array.from({ length: heads }, (_, head) => makeChart(grid, times, layer, head, range));
      charts.push(...own);
      const name = layers > 1 ? element("div", { class: "row-name quiet" }, `layer ${layer + 1}`) : null;
      const figures = own.map(({ figure }) => figure);
      return oneHeadEach(run()) ? figures : [name, rowOf(heads, figures)];
    });
    const all = oneHeadEach(run()) ? rowOf(Math.max(2, layers), rows) : rows;
    const named = layers > 1 && !oneHeadEach(run()) ? " named" : "";
    const scale = `${number(range[0])} to ${number(range[1])}`;
    const title = element("h3", {}, `${sentence(words)} `, element("span", { class: "quiet" }, `by head, ${scale}`));
    return [title, element("div", { class: `small-rows${named}` }, all)];
  };
  const build = () => {
    charts = [];
    const own = run().measures.filter(({ axes, family }) => axes === "heads" && !family);
    host.hidden = !own.length || !run().times.length;
    if (host.hidden) return;
    host.replaceChildren(...own.flatMap(section));
    follow();
  };

  build();
  selection.watch((_, changed) => {
    if (["run", "seed", "left", "logTime", "theme"].some((name) => changed.has(name))) build();
    else if (changed.has("time")) follow();
  });
}
