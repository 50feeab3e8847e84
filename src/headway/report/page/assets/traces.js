// The lines of the charts: seeds thin, the chosen seed firmer, the median thick.
import { medianCurve, seedCurve } from "./curves.js";
import { diverged } from "./data.js";
import { countedSeeds, stagesOf } from "./stages.js";
import { median, number, rungName } from "./words.js";

/** What the ladder panel shows: KL to the rungs, or to the n-gram models. */
export function ladderOf(run, state, palette) {
  if (state.ladder === "references" && run.arrays.kl_references) {
    return {
      title: "KL from each n-gram model (nats)",
      grid: run.arrays.kl_references,
      names: run.task.references.map((context) => `context ${context}`),
      colours: palette.references,
      words: palette.referenceWords,
    };
  }
  return {
    title: "KL from each rung (nats)",
    grid: run.arrays.kl_rungs,
    names: Array.from({ length: run.rungs + 1 }, (_, rung) => rungName(rung)),
    colours: palette.rungs,
    words: palette.rungWords,
  };
}

/** One quantity: a line a seed, and the median, which alone shows its numbers under the pointer. */
export function family(run, state, axis, pick, { colour, name, yaxis }) {
  const x = run.evaluation.map(axis.place);
  const counted = countedSeeds(run);
  const curves = run.seeds.map((_, seed) => seedCurve(run, seed, pick));
  const chosen = curves[state.seed];
  const base = { type: "scatter", mode: "lines", x, yaxis, hoverinfo: "skip", showlegend: false };
  const traces = curves.map((y, seed) => ({
    ...base,
    y,
    opacity: seed === state.seed ? 1 : 0.38,
    line: { color: colour, width: seed === state.seed ? 1.6 : 1 },
  }));
  const spoken = { name, hoverinfo: undefined, customdata: chosen.map(number) };
  if (counted.length > 1) {
    const seedName = `seed ${run.seeds[state.seed]}`;
    traces.push({
      ...base,
      ...spoken,
      y: medianCurve(run, pick),
      line: { color: colour, width: 3 },
      hovertemplate: `median %{y:.3~g} · ${seedName} %{customdata}`,
    });
  } else {
    Object.assign(traces[state.seed], {
      ...spoken,
      line: { color: colour, width: 2.5 },
      hovertemplate: "%{y:.3~g}",
    });
  }
  for (const [seed, y] of curves.entries()) {
    if (!diverged(run, seed)) continue;
    const end = y.findLastIndex((value) => value !== null);
    const mark = { symbol: "x", size: 8, color: colour };
    if (end >= 0) traces.push({ ...base, mode: "markers", x: [x[end]], y: [y[end]], marker: mark });
  }
  const shown = counted.length > 1 ? traces[curves.length].y : chosen;
  return { traces, values: curves.flat(), last: shown.findLast((value) => value !== null) };
}

/** The excess loss of each rung, the median over seeds: [{value, rung}]. */
export function rungLevels(run) {
  if (run.task.plateaus) return run.task.plateaus.map((value, rung) => ({ rung, value }));
  if (!run.facts.rung_excess) return [];
  return Array.from({ length: run.rungs + 1 }, (_, rung) => {
    return { rung, value: median(run.seeds.map((_, seed) => run.facts.rung_excess.at(seed, rung))) };
  });
}

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
export function strip(run, state, axis, palette) {
  const chosen = run.seeds[state.seed];
  const width = Math.min(6, 110 / run.seeds.length); // the panel stops growing at some number of seeds
  return run.seeds.flatMap((name, seed) =>
    wholeTime(run, seed).map((stage) => ({
      type: "scatter",
      mode: "lines",
      x: [axis.place(stage.from), axis.place(stage.until)],
      y: [seed, seed],
      yaxis: "y3",
      line: { color: palette.rungs[stage.rung], width: name === chosen ? width + 4 : width },
      opacity: name === chosen ? 1 : 0.85,
      hoverinfo: "skip",
      showlegend: false,
    })),
  );
}
