// The lines of the charts: seeds thin, the chosen seed firmer, the median thick.
import { heightAt, medianCurve, seedCurve } from "./curves.js";
import { diverged } from "./data.js";
import { countedSeeds, shownSeeds, stagesOf } from "./stages.js";
import { marked, rungMeasure, rungSymbol } from "./terms.js";
import { number } from "./words.js";

/** What the ladder panel shows: KL to the rungs, or to trained reference models. */
export function ladderOf(run, state, palette) {
  if (state.ladder === "references" && run.arrays.kl_references) {
    return {
      title: "KL to each n-gram model (nats)",
      grid: run.arrays.kl_references,
      names: run.references,
      colours: palette.references,
      words: palette.referenceWords,
    };
  }
  return {
    title: rungMeasure(run) === "KL" ? "KL to each rung (nats)" : "distance to each rung",
    grid: run.arrays.kl_rungs,
    names: run.rungNames.map((_, rung) => rungSymbol(run, rung)),
    colours: palette.rungs,
    words: palette.rungWords,
  };
}

/** Several lines as one, with a gap behind each: what costs plotly time is the number of traces. */
function chained(lines) {
  return { x: lines.flatMap(({ x }) => [...x, null]), y: lines.flatMap(({ y }) => [...y, null]) };
}

/** One quantity: a line a seed, and the median, which alone shows its numbers under the pointer. */
export function family(run, state, axis, pick, { colour, name, yaxis, times = run.evaluation }) {
  const x = times.map(axis.place);
  const shown = shownSeeds(run, state);
  const counted = countedSeeds(run, shown);
  const curves = shown.map((seed) => seedCurve(run, seed, pick, times));
  const own = shown.indexOf(state.seed);
  const chosen = curves[own];
  const base = { type: "scatter", mode: "lines", x, yaxis, hoverinfo: "skip", showlegend: false };
  const others = curves.filter((_, k) => k !== own).map((y) => ({ x, y }));
  const faint = { ...base, ...chained(others), opacity: 0.38, line: { color: colour, width: 1 } };
  const single = { ...base, y: chosen, line: { color: colour, width: 1.6 } };
  const traces = others.length ? [faint, single] : [single];
  const spoken = { name: marked(name), hoverinfo: undefined, customdata: chosen.map(number) };
  const middle = counted.length > 1 ? medianCurve(run, counted, pick, times) : null;
  if (middle) {
    const seedName = `seed ${run.seeds[state.seed]}`;
    traces.push({
      ...base,
      ...spoken,
      y: middle,
      line: { color: colour, width: 3 },
      hovertemplate: `median %{y:.3~g} · ${seedName} %{customdata}`,
    });
  } else {
    Object.assign(single, {
      ...spoken,
      line: { color: colour, width: 2.5 },
      hovertemplate: "%{y:.3~g}",
    });
  }
  for (const [k, y] of curves.entries()) {
    if (!diverged(run, shown[k])) continue;
    const end = y.findLastIndex((value) => value !== null);
    const mark = { symbol: "x", size: 8, color: colour };
    if (end >= 0) traces.push({ ...base, mode: "markers", x: [x[end]], y: [y[end]], marker: mark });
  }
  return { traces, values: curves.flat(), last: heightAt(axis, x, middle ?? chosen, axis.until ?? x.at(-1)) };
}

/** Where each rung lies in the first chart, as far as that is known: [{value, rung}]. */
export const rungLevels = (run) =>
  (run.levels ?? []).flatMap((value, rung) => (value === null || rung > run.rungs ? [] : [{ rung, value }]));

/** A dotted level across the chart. */
export function levelTrace(run, axis, value, colour) {
  const ends = [run.evaluation[0], run.evaluation.at(-1)].map(axis.place);
  const line = { color: colour, width: 1.5, dash: "dot" };
  return {
    type: "scatter",
    mode: "lines",
    x: ends,
    y: [value, value],
    line,
    hoverinfo: "skip",
    showlegend: false,
  };
}

/** The stages of a seed after the time before them, which counts as a stage at rung 0. */
function wholeTime(run, seed) {
  if (!run.stages[seed]) return [];
  const stages = stagesOf(run, seed);
  return [{ rung: 0, from: 0, until: stages[0]?.from ?? run.evaluation.at(-1) }, ...stages];
}

/** One bar a seed, in the colour of the rung it stood on; grey before the first stage. */
export function strip(run, state, axis, palette, height) {
  const room = height / run.seeds.length; // the panel stops growing at some number of seeds
  const width = Math.min(6, 0.6 * room);
  const looks = [
    { seeds: (seed) => seed !== state.seed && state.left.has(seed), width, opacity: 0.2 },
    { seeds: (seed) => seed !== state.seed && !state.left.has(seed), width, opacity: 0.85 },
    { seeds: (seed) => seed === state.seed, width: Math.min(width + 4, room), opacity: 1 },
  ];
  const stages = run.seeds.flatMap((_, seed) => wholeTime(run, seed).map((stage) => ({ ...stage, seed })));
  const rungs = [...new Set(stages.map((stage) => stage.rung))];
  return looks.flatMap((look) =>
    rungs.flatMap((rung) => {
      const alike = stages.filter((stage) => stage.rung === rung && look.seeds(stage.seed));
      const bars = alike.map(({ seed, from, until }) => ({ x: [from, until].map(axis.place), y: [seed, seed] }));
      const line = { color: palette.rungs[rung], width: look.width };
      const shown = { yaxis: "y3", opacity: look.opacity, hoverinfo: "skip", showlegend: false };
      return bars.length ? [{ type: "scatter", mode: "lines", ...chained(bars), line, ...shown }] : [];
    }),
  );
}
