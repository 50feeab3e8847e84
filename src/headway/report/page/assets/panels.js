// What each chart shows: its lines, the values that its axis must hold, and the labels beside it.
import { family, ladderOf, levelTrace, rungLevels } from "./traces.js";
import { number, rungName } from "./words.js";

/** The excess loss of the seeds, over the levels of the rungs. */
export function lossPanel(run, state, axis, palette, theme) {
  const panel = { title: "Excess loss (nats)", traces: [], values: [], labels: [] };
  const loss = run.arrays.excess_loss;
  if (!loss) return panel;
  for (const { rung, value } of rungLevels(run)) {
    panel.traces.push(levelTrace(run, axis, value, palette.rungs[rung]));
    panel.values.push(value);
    panel.labels.push({ value, text: `${rungName(rung)} ${number(value)}`, colour: palette.rungWords[rung] });
  }
  const look = { colour: theme.ink, name: "excess loss", yaxis: "y" };
  const lines = family(run, state, axis, (seed, time) => loss.at(seed, time), look);
  panel.traces.push(...lines.traces);
  panel.values.push(...lines.values);
  return panel;
}

/** The KL from each rung, or from each n-gram model, named at the end of its line. */
export function ladderPanel(run, state, axis, palette) {
  const ladder = ladderOf(run, state, palette);
  const panel = { title: ladder.title, traces: [], values: [], labels: [] };
  for (const [rung, name] of ladder.names.entries()) {
    if (!ladder.grid || state.hidden.has(`${state.ladder} ${rung}`)) continue;
    const look = { colour: ladder.colours[rung], name, yaxis: "y2" };
    const lines = family(run, state, axis, (seed, time) => ladder.grid.at(seed, time, rung), look);
    panel.traces.push(...lines.traces);
    panel.values = panel.values.concat(lines.values);
    if (lines.last !== undefined)
      panel.labels.push({ value: lines.last, text: name, colour: ladder.words[rung] });
  }
  return panel;
}
