// The settling of a random start: what its answers by chance cost until it costs about as much as no answer.
import { countedSeeds } from "./stages.js";
import { lossOf } from "./terms.js";
import { median } from "./words.js";

const NEAR = 2; // times the loss of no answer: from there on a start has settled
const WIDE = 30; // a span of values of which a linear axis shows only the largest

/** {level, first, value, at, lowest}, medians of these seeds; null where a loss starts near or below that of no answer. */
export function settlingOf(run, seeds = countedSeeds(run)) {
  const [loss, level] = [lossOf(run), run.silence];
  if (!loss || !(level > 0) || !run.evaluation.length) return null;
  const values = [...run.evaluation].map((_, time) => median(seeds.map((seed) => loss.at(seed, time)).filter(Number.isFinite)));
  const settled = values.findIndex((value) => value <= NEAR * level);
  if (settled < 1) return null;
  const lowest = Math.min(...values.filter(Number.isFinite));
  return { level, first: values[0], value: values[settled], at: run.evaluation[settled], lowest };
}

/** Whether values have a logarithmic axis: as the reader chose, or else where a start would flatten all that follows. */
export function logarithmicValues(runs, { logValue }) {
  return logValue ?? runs.map((run) => settlingOf(run)).some((settling) => settling && settling.first > WIDE * settling.lowest);
}
