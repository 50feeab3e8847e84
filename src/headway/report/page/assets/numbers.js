// The numbers behind each view as tables: a heading and rows, which become CSV.
import { evaluationMasses, lagOf, measureTimes } from "./data.js";
import { clockWord, lossOf, lossWord, rungMeasure, rungTitle } from "./terms.js";
import { matrixOf, pictureStep } from "./pictures.js";
import { arrival, arrivals } from "./stages.js";

const numbered = (count, word) => Array.from({ length: count }, (_, k) => `${word} ${k + 1}`);

/** Every curve that the charts can show of this run: one row a seed and time. */
export function curveTable(run) {
  const columns = [[lossWord(run), lossOf(run), []]];
  const grid = run.arrays;
  if (grid.kl_rungs)
    for (let rung = 0; rung <= run.rungs; rung++) columns.push([`${rungMeasure(run)} to ${rungTitle(run, rung)}`, grid.kl_rungs, [rung]]);
  run.references.forEach((name, k) => columns.push([`KL to ${name}`, grid.kl_references, [k]]));
  if (run.places)
    for (const [word, place] of [["attention", run.place], ["values", "feature"]])
      for (let head = 0; head < run.heads; head++)
        for (let k = 0; k < (grid[word]?.shape[3] ?? 0); k++)
          columns.push([`${word} of head ${head + 1} at ${place} ${k + 1}`, grid[word], [head, k]]);
  for (const { array, words, axes } of run.measures) {
    if (measureTimes(run, array) !== run.evaluation) continue; // it has times of its own
    const [layers, heads] = grid[array].shape.slice(2);
    if (axes === "run") columns.push([words, grid[array], []]);
    else if (axes === "lines") for (let k = 0; k < layers; k++) columns.push([`${words} ${k + 1}`, grid[array], [k]]);
    else
      for (let layer = 0; layer < layers; layer++)
        for (let head = 0; head < heads; head++)
          columns.push([`${words}, layer ${layer + 1} head ${head + 1}`, grid[array], [layer, head]]);
  }
  const known = columns.filter(([, values]) => values);
  const rows = run.seeds.flatMap((seed, s) =>
    run.evaluation.map((time, t) => [seed, time, ...known.map(([, values, index]) => values.at(s, t, ...index))]),
  );
  return [["seed", clockWord(run), ...known.map(([name]) => name)], ...rows];
}

/** The share of attention of every head on every block, along the whole run of the chosen seed. */
export function shareTable(run, { seed, layer }) {
  const head = ["seed", clockWord(run), "layer", "head", ...run.groups.map((group) => group.name), "the rest"];
  const rows = run.shareTimes.flatMap((time, t) =>
    evaluationMasses(run, seed, layer, t).map(({ blocks, elsewhere }, k) => [
      run.seeds[seed],
      time,
      layer + 1,
      k + 1,
      ...blocks,
      elsewhere,
    ]),
  );
  return [head, ...rows];
}

/** The attention matrices that are shown now: one row a query and a key that it can see. */
export function matrixTable(run, state) {
  const heads = Array.from({ length: run.heads }, (_, head) => matrixOf(run, state, head));
  const first = run.keys - run.queries + 1;
  const rows = [];
  for (let query = 0; query < run.queries; query++)
    for (let key = 0; key < run.keys; key++) {
      const lag = lagOf(run, query, key);
      if (lag < 1) continue;
      const place = [run.seeds[state.seed], pictureStep(run, state), state.layer + 1, first + query, key + 1, lag];
      rows.push([...place, ...heads.map((values) => values[query * run.keys + key])]);
    }
  return [["seed", "step", "layer", "query", "key", "lag", ...numbered(run.heads, "head")], ...rows];
}

/** When each seed came to each rung. */
export function stageRows(run) {
  const moves = arrivals(run);
  const rows = run.seeds.map((seed, s) => [seed, ...moves.map((move) => arrival(run, s, move.rung))]);
  return [["seed", ...moves.map((move) => `${clockWord(run)} of ${rungTitle(run, move.rung)}`)], ...rows];
}

/** Every seed behind every verdict; a claim that was not run has a row without a seed. */
export function verdictTable(findings) {
  const rows = findings.flatMap((finding) => {
    const { grid, claim, statement, verdict, quantity, values, holds } = finding;
    const seeds = finding.seeds.length ? finding.seeds : [null];
    const word = (i) => (holds[i] === null ? "cannot be judged" : holds[i]);
    return seeds.map((seed, i) => [grid, claim, statement, verdict, quantity, seed, values[i], word(i)]);
  });
  return [["grid", "claim", "statement", "verdict", "quantity", "seed", "value", "holds"], ...rows];
}
