// Two runs on one slider: which position of the second belongs to a position of the first.
import { nearestIndex } from "./data.js";
import { isFlow } from "./kinds.js";
import { stagesOf } from "./stages.js";

/** The rules by name; the clocks of a training and of a flow cannot be compared. */
export function alignments(first, second) {
  const share = { stage: "stage", share: "share of the run" };
  return isFlow(first) === isFlow(second) ? { clock: isFlow(first) ? "time" : "step", ...share } : share;
}

/** Slider positions between which a run is stretched: its start, where each stage begins, its end. */
export function anchors(run, seed) {
  const last = Math.max(0, run.times.length - 1);
  const begins = stagesOf(run, seed).map((stage) => run.times.findIndex((time) => time >= stage.from));
  // A stage that begins with the run keeps its place in the list, or the second would be taken for the first.
  return [0, ...begins.map((place) => (place < 0 ? last : place)), last];
}

/** The piecewise linear map that takes one list of growing numbers to the other. */
export function stretched(value, from, to) {
  const shared = Math.min(from.length, to.length);
  // A run without the last stages has only its end to offer for them.
  const [starts, ends] = [from, to].map((list) => [...list.slice(0, shared - 1), list.at(-1)]);
  const piece = Math.max(0, starts.slice(0, -1).findLastIndex((start) => start <= value));
  const span = starts[piece + 1] - starts[piece];
  const along = span > 0 ? (value - starts[piece]) / span : 0;
  return ends[piece] + along * (ends[piece + 1] - ends[piece]);
}

/** The position of `to` that belongs to position `time` of `from`; both are {run, seed}. */
export function aligned(from, to, time, rule) {
  const last = Math.max(0, to.run.times.length - 1);
  if (rule === "clock") return nearestIndex(to.run.times, from.run.times[time] ?? 0);
  const ends = rule === "stage" ? [anchors(from.run, from.seed), anchors(to.run, to.seed)] : null;
  const [starts, goals] = ends ?? [[0, Math.max(0, from.run.times.length - 1)], [0, last]];
  return Math.max(0, Math.min(last, Math.round(stretched(time, starts, goals))));
}

/** What to compare a run with before anybody chose: the same name on another grid, the next run, the next seed. */
export function partner(runs, { run, seed }) {
  const bare = ({ kind, label }) => `${kind} ${label.split(", ")[0]}`;
  const same = runs.findIndex((other, k) => k !== run && bare(other) === bare(runs[run]));
  if (same >= 0) return { other: same, otherSeed: Math.min(seed, runs[same].seeds.length - 1) };
  if (runs.length > 1) {
    const next = (run + 1) % runs.length;
    return { other: next, otherSeed: Math.min(seed, runs[next].seeds.length - 1) };
  }
  return { other: run, otherSeed: (seed + 1) % runs[run].seeds.length };
}
