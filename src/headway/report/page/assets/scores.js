// Scores of every head over time, one score at a time: small charts, layers down and heads across, that follow the
// slider; and what became of the probes that measured them.
import { css, paletteOf } from "./colour.js";
import { seedCurve, timeAxis } from "./curves.js";
import { measureTimes, nearestIndex, shownTime } from "./data.js";
import { drawn, element } from "./dom.js";
import { pathOf, rangeOf } from "./measures.js";
import { headName, moment } from "./terms.js";
import { counted, joined, number, sentence } from "./words.js";

const CELL = { width: 96, height: 34 };
const MOST_ERRORS = 5; // of more, the others are counted

export const scoresOf = (run) => run.measures.filter(({ family }) => family === "head_scores");

/** The score in which heads differ most: the widest spread over heads at the end, in parts of its range. */
export function widestScore(run, seed) {
  const spread = ({ array }) => {
    const grid = run.arrays[array];
    const [low, high] = rangeOf(grid);
    const last = [...grid.row(seed, grid.shape[1] - 1)].filter(Number.isFinite);
    return last.length ? (Math.max(...last) - Math.min(...last)) / (high - low || 1) : -1;
  };
  const all = scoresOf(run).map((score, k) => [spread(score), k]);
  return all.reduce((best, each) => (each[0] > best[0] ? each : best), [-2, 0])[1];
}

/** Steps at which a probe failed, with the words that the record has for it: [{step, error}]. */
export function failuresOf(run, seed) {
  const noted = run.provenance?.telemetry?.failures;
  const words = new Map((Array.isArray(noted) ? noted : []).map((each) => [Number(each?.step), String(each?.error ?? "")]));
  const failed = run.arrays.probe_failed;
  const times = failed ? measureTimes(run, "probe_failed") : [];
  for (const [k, step] of times.entries()) if (failed.at(seed, k) > 0 && !words.has(step)) words.set(step, "");
  return [...words].map(([step, error]) => ({ step, error })).sort((a, b) => a.step - b.step);
}

function failureNotice(run, failures) {
  const probes = run.provenance?.telemetry?.probes ?? run.evaluation.length;
  const steps = failures.map(({ step }) => moment(run, step));
  const shown = steps.length > 12 ? `${steps.slice(0, 12).join(", ")} and ${steps.length - 12} more` : joined(steps);
  const lead = `${counted(failures.length, "probe")} of ${number(probes)} failed, at ${steps.length > 1 ? "steps" : "step"} ${shown}: nothing was measured there.`;
  const told = failures.filter(({ error }) => error);
  const lines = told.slice(0, MOST_ERRORS).map(({ step, error }) => element("li", {}, `step ${moment(run, step)}: ${error}`));
  const rest = told.length > MOST_ERRORS ? element("li", {}, `and ${told.length - MOST_ERRORS} more`) : null;
  return element("div", { class: "notice probe-failures", role: "note" }, lead, told.length ? element("ul", {}, lines, rest) : null);
}

export function mountScores(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let charts = []; // {layer, head, ...}
  let chosen = null; // a score's array, as long as the run has it

  const makeCell = (grid, times, failures, layer, head, [low, high]) => {
    const colour = css(paletteOf(run()).heads[head]);
    const axis = timeAxis(times, state.logTime, true);
    const [first, last] = axis.range;
    const x = (step) => (CELL.width * (axis.coordinate(axis.place(step)) - first)) / (last - first || 1);
    const y = (value) => CELL.height - 2 - ((CELL.height - 4) * (value - low)) / (high - low || 1);
    const own = seedCurve(run(), state.seed, (seed, time) => grid.at(seed, time, layer, head), times);
    const there = own.some(Number.isFinite);
    const path = drawn("path", { d: pathOf(times.map(x), own, y), fill: "none", stroke: colour, "stroke-width": 1.8 });
    const marks = failures.map(({ step }) => drawn("line", { class: "failed", x1: x(step), x2: x(step), y1: CELL.height - 5, y2: CELL.height + 2 }));
    const zero = low < 0 ? drawn("line", { class: "base", x1: 0, x2: CELL.width, y1: y(0), y2: y(0) }) : null;
    const base = drawn("line", { class: "base", x1: 0, x2: CELL.width, y1: CELL.height, y2: CELL.height });
    const line = drawn("line", { class: "now", y1: 0, y2: CELL.height });
    const dot = drawn("circle", { r: 2.6, fill: colour });
    const box = { viewBox: `0 0 ${CELL.width} ${CELL.height + 2}`, role: "img" };
    const svg = drawn("svg", box, base, zero, path, marks, line, dot);
    const words = element("span", { class: "quiet" });
    const title = sentence(headName(run(), layer, head));
    const place = run().layers > 1 ? `${layer + 1}.${head + 1}` : `${head + 1}`;
    const caption = element("figcaption", {}, element("b", {}, place), " ", words);
    svg.addEventListener("click", (event) => {
      const edge = svg.getBoundingClientRect();
      const at = first + ((event.clientX - edge.left) / edge.width) * (last - first);
      selection.set({ time: nearestIndex(run().times, axis.type === "log" ? 10 ** at : at), playing: false });
    });
    // A layer with fewer heads than the widest leaves its places empty.
    const figure = element("figure", { class: `score-cell${there ? "" : " absent"}`, title }, caption, svg);
    return { grid, times, layer, head, x, y, line, dot, words, svg, title, figure };
  };
  const follow = () => {
    const step = shownTime(run(), state.seed, run().times[state.time] ?? 0);
    for (const { grid, times, layer, head, x, y, line, dot, words, svg, title } of charts) {
      const value = grid.at(state.seed, nearestIndex(times, step), layer, head);
      const known = Number.isFinite(value);
      const place = x(step).toFixed(1);
      line.setAttribute("x1", place);
      line.setAttribute("x2", place);
      dot.style.display = known ? "" : "none";
      dot.setAttribute("cx", place);
      if (known) dot.setAttribute("cy", y(value).toFixed(1));
      words.textContent = number(known ? Number(value.toPrecision(2)) : value);
      svg.setAttribute("aria-label", `${title}: ${words.textContent} now`);
    }
  };
  const build = () => {
    const scores = scoresOf(run());
    const failures = failuresOf(run(), state.seed);
    charts = [];
    host.hidden = !scores.length && !failures.length;
    if (host.hidden) return;
    const notice = failures.length ? [failureNotice(run(), failures)] : [];
    if (!scores.length || !run().times.length) return void host.replaceChildren(...notice);
    const current = scores.find(({ array }) => array === chosen) ?? scores[widestScore(run(), state.seed)];
    const options = scores.map(({ array, words }) => element("option", { value: array }, sentence(words)));
    const select = element("select", { class: "score-choice", "aria-label": "Which score of the heads is drawn" }, options);
    select.value = current.array;
    select.addEventListener("change", () => {
      chosen = select.value;
      build();
      host.querySelector("select").focus();
    });
    const grid = run().arrays[current.array];
    const times = measureTimes(run(), current.array);
    const range = rangeOf(grid);
    const [layers, heads] = grid.shape.slice(2);
    for (let layer = 0; layer < layers; layer++)
      for (let head = 0; head < heads; head++) charts.push(makeCell(grid, times, failures, layer, head, range));
    const names = layers > 1 ? "layer.head, the slider's value; " : "head, the slider's value; ";
    const scale = element("span", { class: "quiet" }, `${names}charts from ${number(range[0])} to ${number(range[1])}`);
    const look = { class: "score-grid", style: { "--columns": heads }, tabindex: 0, role: "group", "aria-label": "Scores by layer and head" };
    host.replaceChildren(
      element("h3", {}, "Heads by score ", select, " ", scale),
      ...notice,
      element("div", look, charts.map(({ figure }) => figure)),
    );
    follow();
  };

  build();
  selection.watch((_, changed) => {
    if (["run", "seed", "logTime", "theme"].some((name) => changed.has(name))) build();
    else if (changed.has("time")) follow();
  });
}
