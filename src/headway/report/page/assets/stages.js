// Which rung a seed stood on, and when it moved to the next.
import { diverged, shownTime } from "./data.js";
import { byLadder, byLevels, lossOf, rungMeasure, rungName, theLoss } from "./terms.js";
import { joined, median } from "./words.js";

/** Every stage of a seed, named by its rung, the last one ending with the run, or where the seed diverged. */
export function stagesOf(run, seed) {
  const stages = run.stages[seed];
  if (!stages) return [];
  const last = run.evaluation.at(-1) ?? run.times.at(-1);
  const end = diverged(run, seed) ? run.divergedAt[seed] : shownTime(run, seed, last);
  return stages.rungs.map((rung, k) => ({
    number: rung, // a seed may skip a rung, and stage 3 is the time at rung 3 then as well
    rung,
    from: (k ? stages.boundaries[k - 1] : stages.start) ?? 0,
    until: stages.boundaries[k] ?? end,
    level: stages.levels[k],
  }));
}

/** The stage of a seed at a step; null before the first, and where none are known. */
export function stageAt(run, seed, step) {
  return stagesOf(run, seed).findLast((stage) => stage.from <= step) ?? null;
}

/** The step at which a seed came to a rung, or NaN if it never stood there. */
export function arrival(run, seed, rung) {
  const stages = run.stages[seed];
  const at = stages ? stages.rungs.indexOf(rung) : -1;
  if (at === 0 && rung <= firstMove(run)) return stages.start ?? NaN;
  return at > 0 ? (stages.boundaries[at - 1] ?? NaN) : NaN;
}

/** Where stages are found in the loss it waits at the start, too, so that coming to the first is a change of stage. */
const firstMove = (run) => (byLadder(run) ? 2 : 1);

/** For rungs 2, 3, .. (without a ladder 1, 2, ..): the median of arrival over those seeds that arrived, and their number. */
export function arrivals(run, seeds = run.seeds.map((_, seed) => seed)) {
  const first = firstMove(run);
  return Array.from({ length: Math.max(0, run.rungs + 1 - first) }, (_, k) => {
    const rung = k + first;
    const steps = seeds.map((seed) => arrival(run, seed, rung)).filter(Number.isFinite);
    return { rung, step: median(steps), seeds: steps.length, interval: run.intervals[k] ?? null };
  });
}

/** How often the loss of a seed falls. */
const drops = (run, seed) => run.stages[seed]?.rungs.length ?? 0;

/**
 * Where stages are found in the loss alone, seeds by how often it falls, each kind by itself: the first of two drops is
 * another than the only one, and has no median with it. Seeds whose loss comes to no plateau are left out; where stages
 * are those of rungs or levels, all seeds are of one kind.
 */
export function alike(run, seeds = run.seeds.map((_, seed) => seed)) {
  if (byLadder(run) || byLevels(run)) return [seeds];
  const falling = seeds.filter((seed) => drops(run, seed) > 0);
  const counts = [...new Set(falling.map((seed) => drops(run, seed)))].sort((a, b) => a - b);
  return counts.map((count) => falling.filter((seed) => drops(run, seed) === count));
}

/**
 * Where stages 1, 2, .. begin in the median of these seeds, in order of time, and which comes before (0: the start);
 * none where the run began in it, or seeds differ.
 */
export function beginnings(run, seeds = run.seeds.map((_, seed) => seed)) {
  if (alike(run, seeds).length > 1) return [];
  const all = Array.from({ length: Math.max(0, run.rungs) }, (_, k) => k + 1)
    .map((rung) => ({ rung, step: median(seeds.map((seed) => arrival(run, seed, rung)).filter(Number.isFinite)) }))
    .sort((a, b) => a.step - b.step);
  const later = all.filter(({ step }) => step > (run.evaluation[0] ?? 0));
  const atOnce = all.filter(({ step }) => step <= (run.evaluation[0] ?? 0)).at(-1)?.rung ?? 0;
  return later.map((each, k) => ({ ...each, before: later[k - 1]?.rung ?? atOnce }));
}

/** "the one stage", "both stages", "all 3 stages". */
export const allStages = ({ rungs }) => (rungs === 1 ? "the one stage" : rungs === 2 ? "both stages" : `all ${rungs} stages`);

const LONGEST_ASIDE = 24; // letters of a name in brackets within a sentence

/** What was reached: "stage 3 of 3", "stage 2 of 2 (bigram)". */
export function lastStage(run) {
  const { rungs } = run;
  const name = rungName(run, rungs);
  const own = /^rung |^the truth$/.test(name) || name.length >= LONGEST_ASIDE ? "" : ` (${name})`;
  return `${rungs === 1 ? "the one stage" : `stage ${rungs} of ${rungs}`}${own}`;
}

const visited = (run, seed) => (run.stages[seed]?.rungs ?? []).filter((rung) => rung > 0);

/** Whether a seed entered the last stage, whichever stages it went through before. */
export const enteredLast = (run, seed) => visited(run, seed).includes(run.rungs);

/** Of a seed that did not go through all stages in order, what it did: "ended in stage 2", "made no turn to stage 1". */
export function departure(run, seed) {
  const rungs = visited(run, seed);
  const end = rungs.at(-1) ?? 0;
  if (!enteredLast(run, seed)) return end ? `ended in stage ${end}` : "ended before stage 1";
  if (end !== run.rungs) return `returned to stage ${end}`;
  const missed = Array.from({ length: run.rungs }, (_, k) => k + 1).filter((rung) => !rungs.includes(rung));
  // Two rungs may lie so close that no turn between them can be seen: what is known is that there was none.
  if (missed.length) return `made no turn to ${missed.length > 1 ? "stages" : "stage"} ${joined(missed)}`;
  const first = [...new Set(rungs)];
  const forward = first.every((rung, k) => rung === k + 1);
  return forward ? "went back to an earlier stage on the way" : "went through the stages in another order";
}

/** Whether a seed stood on rung 1, then 2, and so on to the truth, and nowhere else. */
export function inOrder(run, seed) {
  const rungs = visited(run, seed);
  return rungs.length === run.rungs && rungs.every((rung, k) => rung === k + 1);
}

/**
 * The slider's position that shows a stage best: where KL to that stage's rung is lowest in it; -1 if there is none.
 * Its first step would show the heads on their way, not where they came to.
 */
export function showcase(run, seed, stage) {
  const inside = run.times
    .map((_, time) => time)
    .filter((time) => {
      return (
        run.times[time] >= stage.from && (run.times[time] < stage.until || stage.until === stagesOf(run, seed).at(-1).until)
      );
    });
  const distance = (time) => {
    const now = run.nearest[time];
    const level = (byLevels(run) ? run.levels[stage.rung] : null) ?? stage.level;
    const away = byLadder(run)
      ? run.arrays.kl_rungs?.at(seed, now, stage.rung)
      : Math.abs((run.arrays.excess_loss ?? run.arrays.loss ?? lossOf(run)).at(seed, now) - level);
    return Number.isFinite(away) ? away : Infinity;
  };
  if (!inside.length) return run.times.findIndex((step) => step >= stage.from);
  return inside.reduce((best, time) => (distance(time) < distance(best) ? time : best));
}

/** What is so at the showcase of a stage: "KL to rung 2 reaches its minimum in stage 2". */
export function showcaseWords(run, { number, rung }) {
  if (!byLadder(run)) return `${theLoss(run)} is nearest to its level in stage ${number}`;
  return `${rungMeasure(run)} to ${rungName(run, rung)} reaches its minimum in stage ${number}`;
}

/** The showcase after position `time` of the slider (direction 1) or before it (-1); null if there is none. */
export function nextStage(run, seed, time, direction) {
  const places = stagesOf(run, seed).map((stage) => showcase(run, seed, stage));
  const beyond = places.filter((place) => place >= 0 && direction * (place - time) > 0);
  return beyond.length ? (direction > 0 ? Math.min(...beyond) : Math.max(...beyond)) : null;
}

/** The seeds that the charts show: those that nobody left out, and the chosen one in any case. */
export function shownSeeds(run, { seed: chosen, left }) {
  return run.seeds.map((_, seed) => seed).filter((seed) => seed === chosen || !left.has(seed));
}

/** Of these seeds, or of all, those that a median may count: a diverged one stopped moving and would bend it. */
export function countedSeeds(run, seeds = run.seeds.map((_, seed) => seed)) {
  return seeds.filter((seed) => !diverged(run, seed));
}
