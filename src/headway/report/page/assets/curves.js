// Curves over training, seed by seed and as a median, placed on a time axis that can show step 0.
import { diverged } from "./data.js";
import { countedSeeds } from "./stages.js";
import { median, whole } from "./words.js";

/** One curve: `pick(seed, time)` along the evaluations, cut where the seed diverged. */
export function seedCurve(run, seed, pick) {
  return run.evaluation.map((step, time) => {
    if (diverged(run, seed) && step > run.divergedAt[seed]) return null;
    const value = pick(seed, time);
    return Number.isFinite(value) ? value : null;
  });
}

/** The median over the seeds that did not diverge; null where there is none. */
export function medianCurve(run, pick) {
  const seeds = countedSeeds(run);
  return run.evaluation.map((_, time) => {
    const value = median(seeds.map((seed) => pick(seed, time)));
    return Number.isFinite(value) ? value : null;
  });
}

/**
 * A linear or logarithmic axis of steps. The logarithm has no place for step 0, the most telling
 * step of all; it stands where rounding still calls it 0, left of the first one that was measured.
 */
export function timeAxis(steps, logarithmic, narrow) {
  const last = Math.max(1, ...steps);
  if (!logarithmic) {
    return { place: (step) => step, coordinate: (x) => x, range: [0, last], type: "linear", ticks: null };
  }
  const first = steps.find((step) => step > 0) ?? 1;
  const zero = Math.min(0.4, 0.4 * first);
  const place = (step) => Math.max(step, zero);
  const marks = [];
  for (let decade = 1; decade <= last; decade *= 10) {
    for (const factor of narrow ? [1] : [1, 2, 5])
      if (factor * decade >= first && factor * decade <= last) marks.push(factor * decade);
  }
  return {
    place,
    coordinate: (x) => Math.log10(x),
    range: [Math.log10(zero), Math.log10(last)],
    type: "log",
    ticks: { values: [zero, ...marks], words: ["0", ...marks.map(whole)] },
  };
}

/** Smallest and largest positive value, so that a logarithmic axis is not stretched by a stray zero. */
export function positiveRange(curves, floor) {
  const values = curves.flat().filter((value) => value !== null && value > 0);
  if (!values.length) return [floor, 1];
  return [Math.max(floor, Math.min(...values)), Math.max(...values)];
}
