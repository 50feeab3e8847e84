// Curves over training, seed by seed and as a median, placed on a time axis that can show step 0.
import { diverged } from "./data.js";
import { median, number } from "./words.js";

/** One curve: `pick(seed, time)` along the evaluations, cut where the seed diverged. */
export function seedCurve(run, seed, pick, times = run.evaluation) {
  return times.map((step, time) => {
    if (diverged(run, seed) && step > run.divergedAt[seed]) return null;
    const value = pick(seed, time);
    return Number.isFinite(value) ? value : null;
  });
}

/** The median over these seeds; null where there is none. */
export function medianCurve(run, seeds, pick, times = run.evaluation) {
  return times.map((_, time) => {
    const value = median(seeds.map((seed) => pick(seed, time)));
    return Number.isFinite(value) ? value : null;
  });
}

/**
 * A linear or logarithmic axis of steps. The logarithm has no place for step 0, the most informative
 * step of all; it stands where rounding still calls it 0, left of the first one that was measured.
 */
export function timeAxis(steps, logarithmic, narrow) {
  const last = Math.max(1, ...steps);
  if (!logarithmic) {
    return { place: (step) => step, coordinate: (x) => x, range: [0, last], type: "linear", ticks: null };
  }
  const first = steps.reduce((least, step) => (step > 0 && step < least ? step : least), last);
  const zero = Math.min(0.4, 0.4 * first);
  const place = (step) => Math.max(step, zero);
  const marks = [];
  const lowest = Math.min(0, Math.floor(Math.log10(first)));
  const decades = Math.log10(last) - lowest;
  const factors = narrow || decades >= 5 ? [1] : decades >= 4 ? [1, 3] : [1, 2, 5]; // as many marks as have room
  for (let power = lowest; 10 ** power <= last; power++) {
    const decade = 10 ** power;
    for (const factor of factors)
      if (factor * decade >= first && factor * decade <= last) marks.push(factor * decade);
  }
  return {
    place,
    coordinate: (x) => Math.log10(x),
    range: [Math.log10(zero), Math.log10(last)],
    type: "log",
    ticks: { values: [zero, ...marks], words: ["0", ...marks.map(number)] },
  };
}

const SMALLEST = 1e-4; // nats; what lies below is noise, and would stretch a logarithmic axis
const FAR_FROM_ZERO = 0.5; // of the highest value: where all lie above it, an axis from zero would flatten every step

/** A linear axis, from zero unless all values are far from it, or a logarithmic one over the positive values. */
export function valueAxis(values, logarithmic) {
  let [low, high] = [Infinity, logarithmic ? SMALLEST : -Infinity];
  for (const value of values) {
    if (value === null || !Number.isFinite(value) || (logarithmic && value < SMALLEST)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (logarithmic) {
    const range = [Math.log10(Math.min(low, high) / 1.4), Math.log10(high * 1.5)];
    return { type: "log", range, coordinate: (value) => (value > 0 ? Math.log10(value) : -Infinity) };
  }
  if (!(low > FAR_FROM_ZERO * high)) [low, high] = [Math.min(0, low), Math.max(0, high)];
  else low -= 0.1 * (high - low || low);
  return { type: "linear", range: [low, high + 0.05 * (high - low || 1)], coordinate: (value) => value };
}

/** The height of a line at `x`, between its points by the axis's own scale; undefined where it has none. */
export function heightAt(axis, xs, ys, x) {
  const known = ys.flatMap((y, k) => (y === null ? [] : [k]));
  const after = known.find((k) => xs[k] >= x) ?? known.at(-1);
  const before = known.findLast((k) => xs[k] <= x) ?? known[0];
  if (after === undefined) return undefined;
  const [start, end, place] = [xs[before], xs[after], x].map(axis.coordinate);
  const along = end > start ? (place - start) / (end - start) : 0;
  return ys[before] + along * (ys[after] - ys[before]);
}

/**
 * Labels beside an axis of `height` pixels, moved apart where they would overlap: each gets its coordinate and the shift
 * in pixels that keeps `gap` between neighbours; one of several `lines` takes as many gaps.
 */
export function apart(labels, axis, height, gap = 14) {
  const [low, high] = axis.range;
  const placed = labels
    .map((label) => ({ ...label, coordinate: axis.coordinate(label.value) }))
    .filter(({ coordinate }) => coordinate >= low && coordinate <= high)
    .map((label) => ({ ...label, wanted: (height * (label.coordinate - low)) / (high - low) }))
    .sort((a, b) => a.wanted - b.wanted);
  const half = ({ lines = 1 }) => (gap * lines + 4 * (lines - 1)) / 2; // of the room that a label takes
  let below = null;
  for (const label of placed) {
    label.at = Math.max(label.wanted, below ? below.at + half(below) + half(label) : half(label) - gap / 2);
    below = label;
  }
  let above = null;
  for (const label of placed.toReversed()) {
    label.at = Math.min(label.at, above ? above.at - half(above) - half(label) : height - half(label) + gap / 2);
    above = label;
  }
  return placed.map((label) => ({ ...label, shift: label.at - label.wanted }));
}
