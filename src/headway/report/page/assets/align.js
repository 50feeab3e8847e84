// Two runs on one slider: which position of the second belongs to a position of the first.
import { nearestIndex } from "./data.js";
import { sameProgress } from "./terms.js";
import { stageAt, stagesOf } from "./stages.js";

/** The rules by name; clocks that count different things, as steps and the time of a flow, cannot be compared. */
export function alignments(first, second) {
  const staged = [first, second].every((run) => run.stages.some(Boolean));
  const share = { ...(staged ? { stage: "stage" } : {}), share: "share of the run" };
  const { word } = first.clock;
  return word === second.clock.word ? { clock: word, ...share } : share;
}

/** Whether the curves of two runs can be laid over each other: the same quantity over the same kind of time. */
export const overlays = (first, second) => first.clock.word === second.clock.word && sameProgress(first, second);

/** Where each stage of a seed begins and ends on the slider: [{number, from, until}]. */
function spans({ run, seed }) {
  const last = Math.max(0, run.times.length - 1);
  const stages = stagesOf(run, seed);
  const begins = stages.map((stage) => {
    const place = run.times.findIndex((time) => time >= stage.from);
    return place < 0 ? last : place;
  });
  return stages.map(({ number }, k) => ({ number, from: begins[k], until: begins[k + 1] ?? last }));
}

/**
 * Slider positions that belong together: starts, both ends of every stage that both have, ends. While the one is in a
 * stage that the other lacks, the other stands still.
 */
export function anchors(from, to) {
  const [starts, ends] = [[0], [0]];
  const others = spans(to);
  for (const own of spans(from)) {
    const other = others.find(({ number, from: begin }) => number === own.number && begin >= ends.at(-1));
    if (!other) continue;
    starts.push(own.from, own.until);
    ends.push(other.from, other.until);
  }
  return [
    [...starts, Math.max(0, from.run.times.length - 1)],
    [...ends, Math.max(0, to.run.times.length - 1)],
  ];
}

/** The stage that `from` is in at a position and `to` never is in; 0 if there is none. */
export function lackedStage(from, to, time) {
  const stage = stageAt(from.run, from.seed, from.run.times[time] ?? 0);
  return !stage || stagesOf(to.run, to.seed).some(({ number }) => number === stage.number) ? 0 : stage.number;
}

/** The piecewise linear map that takes one list of growing numbers to another as long. */
export function stretched(value, starts, ends) {
  const piece = Math.max(0, starts.slice(0, -1).findLastIndex((start) => start <= value));
  const span = starts[piece + 1] - starts[piece];
  const along = span > 0 ? (value - starts[piece]) / span : 0;
  return ends[piece] + along * (ends[piece + 1] - ends[piece]);
}

/** The position of `to` that belongs to position `time` of `from`; both are {run, seed}. */
export function aligned(from, to, time, rule) {
  const last = Math.max(0, to.run.times.length - 1);
  if (rule === "clock") return nearestIndex(to.run.times, from.run.times[time] ?? 0);
  const whole = [[0, Math.max(0, from.run.times.length - 1)], [0, last]];
  const [starts, goals] = rule === "stage" ? anchors(from, to) : whole;
  return Math.max(0, Math.min(last, Math.round(stretched(time, starts, goals))));
}

/** What to compare a run with before anybody chose: the same name on another grid, the next run, the next seed. */
export function partner(runs, { run, seed }) {
  const bare = ({ title, label }) => `${title} ${label.split(", ")[0]}`;
  const same = runs.findIndex((other, k) => k !== run && bare(other) === bare(runs[run]));
  if (same >= 0) return { other: same, otherSeed: Math.min(seed, runs[same].seeds.length - 1) };
  if (runs.length > 1) {
    const next = (run + 1) % runs.length;
    return { other: next, otherSeed: Math.min(seed, runs[next].seeds.length - 1) };
  }
  return { other: run, otherSeed: (seed + 1) % runs[run].seeds.length };
}
