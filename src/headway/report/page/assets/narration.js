// What is happening now, and what happened altogether, said in words from the measured numbers.
import { blockMasses, diverged } from "./data.js";
import { isFlow, lossOf, lossUnit, lossWord, placeWord, when } from "./kinds.js";
import { stageAt } from "./stages.js";
import { counted, headWords, joined, number, percent, sentence, whole } from "./words.js";

/** More than half of a head's attention: it cannot hold two disjoint blocks at once. */
const HOLDS = 0.5;

/** The block that a head holds, or -1 while its attention is spread. */
export function heldBlock(masses) {
  const most = masses.blocks.indexOf(Math.max(...masses.blocks.filter(Number.isFinite)));
  return most >= 0 && masses.blocks[most] > HOLDS ? most : -1;
}

/** "head 2 holds block 2 with 81 % of its attention; heads 1 and 3 share block 1 (70 % and 66 %)". */
export function headsNow(masses, place = "block") {
  const held = masses.map(heldBlock);
  const blocks = masses[0]?.blocks.length ?? 0;
  const words = [];
  for (let block = 0; block < blocks; block++) {
    const heads = held.flatMap((holds, head) => (holds === block ? [head] : []));
    const shares = heads.map((head) => percent(masses[head].blocks[block]));
    const each = new Set(shares).size === 1 ? `${shares[0]} each` : joined(shares);
    const whose = words.length ? "" : " of its attention";
    if (heads.length === 1)
      words.push(`${headWords(heads)} holds ${place} ${block + 1} with ${shares[0]}${whose}`);
    if (heads.length > 1) words.push(`${headWords(heads)} share ${place} ${block + 1} (${each})`);
  }
  const loose = held.flatMap((holds, head) => (holds < 0 ? [head] : []));
  if (loose.length === masses.length && loose.length)
    return `no head holds a ${place} yet: less than half of each one's attention lies on any of them`;
  if (loose.length) {
    const most = Math.max(...loose.flatMap((head) => masses[head].blocks.filter(Number.isFinite)), 0);
    const verb = loose.length === 1 ? "holds" : "hold";
    words.push(`${headWords(loose)} ${verb} none (at most ${percent(most)} on any ${place})`);
  }
  return words.join("; ");
}

/** "KL 0.12 from rung 2 and 0.4 from the truth": how far the model is from where it stands, and from its goal. */
function distances(run, seed, time, stage) {
  const kl = (rung) => run.arrays.kl_rungs?.at(seed, run.nearest[time], rung);
  const goal = kl(run.rungs);
  if (!Number.isFinite(goal)) return "";
  const last = `${number(goal)} from the truth`;
  // Not from the nearest: a rung that leaves blocks out is too sure of itself, so that the next one is often nearer.
  if (!stage || stage.rung === run.rungs || !Number.isFinite(kl(stage.rung))) return `KL ${last}`;
  return `KL ${number(kl(stage.rung))} from rung ${stage.rung} and ${last}`;
}

/** Heads may look at a block before the predictions show it. */
export function aheadWords(run, stage, masses) {
  if (!stage || isFlow(run)) return "";
  const ahead = masses.flatMap((each, head) => (heldBlock(each) + 1 > stage.rung ? [head] : []));
  if (!ahead.length) return "";
  const blocks = [...new Set(ahead.map((head) => heldBlock(masses[head]) + 1))].sort((a, b) => a - b);
  const held = `${ahead.length > 1 ? "hold" : "holds"} ${blocks.length > 1 ? "blocks" : "block"} ${joined(blocks)}`;
  return `By the ladder this is still stage ${stage.number}, though ${headWords(ahead)} already ${held}.`;
}

/** The line under the slider, as {lead, words, numbers}: when, what the heads do, how good the model is. */
export function narrate(run, seed, layer, time) {
  const step = run.times[time];
  if (step === undefined) return { lead: "", words: "Nothing was measured along this run.", numbers: "" };
  const stage = stageAt(run, seed, step);
  const before = run.stages[seed]?.rungs.length ? ", before the first stage" : "";
  const lead = `${sentence(when(run, step))}${stage ? `, stage ${stage.number} of ${run.rungs}` : before}`;
  const masses = blockMasses(run, seed, layer, time);
  const gone = diverged(run, seed) && step >= run.divergedAt[seed];
  const words = gone
    ? `this seed diverged at step ${whole(run.divergedAt[seed])}; what is shown is its last finite state`
    : masses.length
      ? headsNow(masses, placeWord(run))
      : "";
  const loss = lossOf(run)?.at(seed, run.nearest[time]);
  const parts = [
    Number.isFinite(loss) ? `${lossWord(run)} ${number(loss)}${lossUnit(run)}` : "",
    run.arrays.kl_rungs ? distances(run, seed, time, stage) : "",
    isFlow(run) && stage
      ? `which waits at ${number(run.task.plateaus[stage.rung])} with ${counted(stage.rung, "feature")} learned`
      : "",
  ].filter(Boolean);
  const told = [parts.length ? `${sentence(parts.join(", "))}.` : "", gone ? "" : aheadWords(run, stage, masses)];
  return { lead, words, numbers: told.filter(Boolean).join(" ") };
}
