// What differs between a training and a gradient flow in words and units, so that everything else can be shared.
import { number, rungName, whole } from "./words.js";

export const isFlow = (run) => run.kind === "flow";

/** A training counts whole steps, a flow has a time. */
export const clockWord = (run) => (isFlow(run) ? "time" : "step");

export const moment = (run, time) => (isFlow(run) ? number(time) : whole(time));

/** "step 300", "time 45.4". */
export const when = (run, time) => `${clockWord(run)} ${moment(run, time)}`;

export const lossOf = (run) => run.arrays.excess_loss ?? run.arrays.loss;

export const lossWord = (run) => (isFlow(run) ? "loss" : "excess loss");

export const lossUnit = (run) => (isFlow(run) ? "" : " nats");

/** What a share of attention lies on. */
export const placeWord = (run) => (isFlow(run) ? "position" : "block");

/** Where the loss waits once so many features are learned, or a rung of the ladder. */
export const levelName = (run, rung) => (isFlow(run) ? `L<sub>${rung}</sub>` : rungName(rung));

/** What the second chart can show; the first is what it opens with. */
export function ladderChoices(run) {
  if (isFlow(run)) return { attention: "attention", values: "values" };
  return run.arrays.kl_references
    ? { rungs: "rungs", references: "n-gram models" }
    : { rungs: "rungs" };
}

/** The wanted choice where the run has it, otherwise its first. */
export function ladderFor(run, wanted) {
  const choices = Object.keys(ladderChoices(run));
  return choices.includes(wanted) ? wanted : choices[0];
}
