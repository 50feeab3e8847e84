// What is happening now, and what happened altogether, in words, from the measured numbers.
import { blockMasses, diverged, measureTimes, nearestIndex, shownTime, stoppedBefore } from "./data.js";
import {
  blocksAreRungs,
  byLadder,
  byLevels,
  clockWord,
  headName,
  inUnit,
  lossOf,
  lossUnit,
  lossWord,
  placeName,
  placesOf,
  placeWord,
  rungMeasure,
  rungName,
  when,
} from "./terms.js";
import { stageAt } from "./stages.js";
import { headWords, joined, number, percentBeside, sentence, threeDigits, whole } from "./words.js";

/** More than half of a head's attention: it cannot hold two disjoint blocks at once. */
const HOLDS = 0.5;

/** The share of a head's attention, on the same side of the rule as the number itself. */
export const heldPercent = (share) => percentBeside(HOLDS, share);

/** The block that a head holds, or -1 while its attention is spread. */
export function heldBlock(masses) {
  const most = masses.blocks.indexOf(Math.max(...masses.blocks.filter(Number.isFinite)));
  return most >= 0 && masses.blocks[most] > HOLDS ? most : -1;
}

/** "head 2 holds block 2 with 81 % of its attention; heads 1 and 3 share block 1 (70 % and 66 %)". */
export function headsNow(masses, places = "block") {
  const held = masses.map(heldBlock);
  const place = placeWord(places);
  const blocks = masses[0]?.blocks.length ?? 0;
  const words = [];
  for (let block = 0; block < blocks; block++) {
    const heads = held.flatMap((holds, head) => (holds === block ? [head] : []));
    const shares = heads.map((head) => heldPercent(masses[head].blocks[block]));
    const each = new Set(shares).size === 1 ? `${shares[0]} each` : joined(shares);
    const whose = words.length ? "" : " of its attention";
    if (heads.length === 1)
      words.push(`${headWords(heads)} holds ${placeName(places, block)} with ${shares[0]}${whose}`);
    if (heads.length > 1) words.push(`${headWords(heads)} share ${placeName(places, block)} (${each})`);
  }
  const loose = held.flatMap((holds, head) => (holds < 0 ? [head] : []));
  if (loose.length === masses.length && loose.length)
    return `no head holds a ${place} yet: none has more than half of its attention on one`;
  if (loose.length) {
    const most = Math.max(...loose.flatMap((head) => masses[head].blocks.filter(Number.isFinite)), 0);
    const verb = loose.length === 1 ? "holds" : "hold";
    words.push(`${headWords(loose)} ${verb} none (at most ${heldPercent(most)} on any ${place})`);
  }
  return words.join("; ");
}

/** Why this is the stage although the truth is nearer: by the minima, or because the rung nearer to its own does not count. */
export function stageReason(run, seed, at, stage) {
  const measure = rungMeasure(run);
  const rule = `a stage goes by how far each ${measure} is above its own minimum, not by which is lowest`;
  const { lowest, met } = run.minima?.[seed] ?? {};
  // Between two evaluations, where a boundary may lie, the numbers are those of the nearest one.
  if (!lowest || stageAt(run, seed, run.evaluation[at])?.rung !== stage.rung) return rule;
  const above = (rung) => run.arrays.kl_rungs.at(seed, at, rung) - lowest[rung];
  const least = (rungs) => rungs.reduce((best, rung) => (above(rung) < above(best) ? rung : best), stage.rung);
  const [ofMet, ofAll] = [least(met), least(lowest.map((_, rung) => rung))];
  const nearer = (rung) => `${measure} to ${rungName(run, rung)} is ${rung > stage.rung ? "already " : ""}nearer to its minimum, but`;
  if (ofMet !== stage.rung) {
    const lasting = `a stage counts only if it lasts for two evaluations and until the ${clockWord(run)} has grown by a tenth`;
    return `${nearer(ofMet)} ${lasting}`;
  }
  if (ofAll === stage.rung) return rule;
  return `${nearer(ofAll)} the model makes no turn towards it in this run: see the words used on this page`;
}

/** "KL 0.12 to unigram and 0.4 to bigram": how far the model is from where it stands, and from its goal. */
function distances(run, seed, time, stage) {
  const kl = (rung) => run.arrays.kl_rungs?.at(seed, run.nearest[time], rung);
  const goal = kl(run.rungs);
  if (!Number.isFinite(goal)) return "";
  const last = `${threeDigits(goal)} to ${rungName(run, run.rungs)}`;
  // Not from the nearest: a rung that leaves blocks out is overconfident, so that the next one is often nearer.
  if (!stage || stage.rung === run.rungs || !Number.isFinite(kl(stage.rung))) return `${rungMeasure(run)} ${last}`;
  const nearer = goal < kl(stage.rung) ? ` (${stageReason(run, seed, run.nearest[time], stage)})` : "";
  return `${rungMeasure(run)} ${threeDigits(kl(stage.rung))} to ${rungName(run, stage.rung)} and ${last}${nearer}`;
}

/** Heads may look at a block before the predictions show it. */
export function aheadWords(run, stage, masses) {
  if (!stage || !byLadder(run) || !blocksAreRungs(run)) return "";
  const ahead = masses.flatMap((each, head) => (heldBlock(each) + 1 > stage.rung ? [head] : []));
  if (!ahead.length) return "";
  const blocks = [...new Set(ahead.map((head) => heldBlock(masses[head]) + 1))].sort((a, b) => a - b);
  const held = `${ahead.length > 1 ? "hold" : "holds"} ${blocks.length > 1 ? "blocks" : "block"} ${joined(blocks)}`;
  return `By the ladder this is still stage ${stage.number}, though ${headWords(ahead)} already ${held}.`;
}

/** A stage by its rung's own name, where that says more than its number. */
const nameOfStage = (run, { rung }) => {
  const name = rungName(run, rung);
  return byLadder(run) && !/^rung |^the truth$/.test(name) ? ` (${name})` : "";
};

/** "attention on the token before is highest in layer 1, head 2: 0.92". */
function measureWords(run, seed, step) {
  const measure = run.measures?.find(({ axes }) => axes === "heads");
  if (!measure) return "";
  const grid = run.arrays[measure.array];
  const time = nearestIndex(measureTimes(run, measure.array), step);
  const [layers, heads] = grid.shape.slice(2);
  let best = null;
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const value = grid.at(seed, time, layer, head);
      if (Number.isFinite(value) && !(best?.value >= value)) best = { layer, head, value };
    }
  if (!best) return "";
  const where = layers * heads > 1 ? ` highest in ${headName(run, best.layer, best.head)}:` : "";
  return `${measure.words} is${where} ${number(best.value)}`;
}

/** The line under the slider, as {lead, words, numbers}: when, what the heads do, how good the model is. */
export function narrate(run, seed, layer, time) {
  const step = run.times[time];
  if (step === undefined) return { lead: "", words: "Nothing was measured over time.", numbers: "" };
  const stage = stageAt(run, seed, step);
  const before = run.stages[seed]?.rungs.length ? ", the start" : "";
  const lead = `${sentence(when(run, step))}${inUnit(run)}${stage ? `, stage ${stage.number} of ${run.rungs}${nameOfStage(run, stage)}` : before}`;
  const masses = blockMasses(run, seed, layer, time);
  const halted = stoppedBefore(run, seed, step);
  const last = shownTime(run, seed, step);
  const gone = diverged(run, seed) && step >= run.divergedAt[seed];
  const words = gone
    ? `this seed diverged at step ${whole(run.divergedAt[seed])}; what is shown is its last finite state`
    : masses.length
      ? `${run.layers > 1 ? `in layer ${layer + 1} ` : ""}${headsNow(masses, placesOf(run))}`
      : measureWords(run, seed, last);
  const loss = lossOf(run)?.at(seed, halted ? nearestIndex(run.evaluation, last) : run.nearest[time]);
  const parts = [
    Number.isFinite(loss) ? `${lossWord(run)} ${threeDigits(loss)}${lossUnit(run)}` : "",
    run.arrays.kl_rungs ? distances(run, seed, time, stage) : "",
    byLevels(run) && stage && Number.isFinite(run.levels[stage.rung])
      ? `on the plateau at ${threeDigits(run.levels[stage.rung])} with ${rungName(run, stage.rung)} learnt`
      : "",
  ].filter(Boolean);
  const end = halted ? `This seed stopped at ${when(run, run.stoppedAt[seed])}; these are its last numbers.` : "";
  const told = [end, parts.length ? `${sentence(parts.join(", "))}.` : "", gone ? "" : aheadWords(run, stage, masses)];
  return { lead, words, numbers: told.filter(Boolean).join(" ") };
}
