// What each chart shows: its lines, the values that its axis must hold, and the labels beside it.
import { css } from "./colour.js";
import { heightAt, seedCurve } from "./curves.js";
import { measureTimes } from "./data.js";
import { isHidden, ladderFor, lossOf, lossUnit, lossWord, marked, measureOf, rungSymbol } from "./terms.js";
import { family, ladderOf, levelTrace, rungLevels } from "./traces.js";
import { sentence, threeDigits } from "./words.js";

/** How far the seeds have come, over the levels of the rungs. */
export function lossPanel(run, state, axis, palette, theme) {
  const title = marked(`${sentence(lossWord(run))}${lossUnit(run) ? ` (${run.progress.unit})` : ""}`);
  const panel = { title, traces: [], values: [], labels: [] };
  const loss = lossOf(run);
  if (!loss) return panel;
  for (const { rung, value } of rungLevels(run)) {
    panel.traces.push(levelTrace(run, axis, value, palette.rungs[rung]));
    panel.values.push(value);
    const end = threeDigits(value);
    panel.labels.push({ value, text: `${marked(rungSymbol(run, rung))} ${end}`, end, colour: palette.rungWords[rung] });
  }
  const look = { colour: theme.ink, name: lossWord(run), yaxis: "y" };
  const lines = family(run, state, axis, (seed, time) => loss.at(seed, time), look);
  panel.traces.push(...lines.traces);
  panel.values.push(...lines.values);
  return panel;
}

/** The second chart, whatever was chosen for it: the ladder, attention, or a measure; null where there is nothing. */
export function ladderPanel(run, state, axis, palette, theme) {
  const choice = ladderFor(run, state.ladder);
  const measure = measureOf(run, choice);
  if (measure) return measurePanel(run, state, axis, palette, theme, measure);
  if (choice === "attention" || choice === "values") return headPanel(run, state, axis, palette);
  return choice ? distancePanel(run, state, axis, palette) : null;
}

/** The KL to each rung, or to each reference model, named at the end of its line. */
function distancePanel(run, state, axis, palette) {
  const ladder = ladderOf(run, state, palette);
  const panel = { title: ladder.title, traces: [], values: [], labels: [] };
  for (const [rung, name] of ladder.names.entries()) {
    if (!ladder.grid || isHidden(run, state, `${state.ladder} ${rung}`)) continue;
    const look = { colour: ladder.colours[rung], name, yaxis: "y2" };
    const lines = family(run, state, axis, (seed, time) => ladder.grid.at(seed, time, rung), look);
    panel.traces.push(...lines.traces);
    panel.values = panel.values.concat(lines.values);
    if (lines.last !== undefined)
      panel.labels.push({ value: lines.last, text: marked(name), colour: ladder.words[rung] });
  }
  return panel;
}

const TOLD = 0.15;

/** Lines of a head differ by position, or by feature, in their dashes. */
export const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];

/** Attention or values of the chosen seed's heads, in the heads' colours: paper A, figure 10. */
function headPanel(run, state, axis, palette) {
  const shown = ladderFor(run, state.ladder);
  const [title, name] =
    shown === "values"
      ? ["Value of each head along each feature", "feature"]
      : ["Attention of each head on each position", "position"];
  const panel = { title: `${title}, seed ${run.seeds[state.seed]}`, traces: [], values: [], labels: [] };
  const grid = run.arrays[shown];
  for (let head = 0; head < run.heads; head++) {
    if (isHidden(run, state, `heads ${head}`)) continue;
    for (let place = 0; place < grid.shape[3]; place++) {
      const x = run.evaluation.map(axis.place);
      const y = seedCurve(run, state.seed, (seed, time) => grid.at(seed, time, head, place));
      panel.traces.push({
        type: "scatter",
        mode: "lines",
        x,
        y,
        yaxis: "y2",
        name: `head ${head + 1}, ${name} ${place + 1}`,
        line: { color: css(palette.heads[head]), width: 2, dash: DASHES[place % DASHES.length] },
        hovertemplate: "%{y:.3~g}",
        showlegend: false,
      });
      panel.values.push(...y);
      // The number of the head at the end of its line, for those who do not see its colour; flat lines need none.
      const last = heightAt(axis, x, y, axis.until ?? x.at(-1));
      const label = { value: last, text: `head ${head + 1}`, colour: palette.rungWords[0] };
      if (Math.abs(last) > TOLD) panel.labels.push(label);
    }
  }
  return panel;
}

/** A measure over time: of the whole model as the loss is drawn, of heads in their colours, of anything else in lines. */
function measurePanel(run, state, axis, palette, theme, { array, words, axes }) {
  const grid = run.arrays[array];
  const times = measureTimes(run, array);
  const panel = { title: marked(sentence(words)), traces: [], values: [], labels: [] };
  const draw = (pick, look) => {
    const lines = family(run, state, axis, pick, { ...look, yaxis: "y2", times });
    panel.traces.push(...lines.traces);
    panel.values = panel.values.concat(lines.values);
    return lines.last;
  };
  if (axes === "run") {
    draw((seed, time) => grid.at(seed, time), { colour: theme.ink, name: words });
    return panel;
  }
  const layer = Math.min(state.layer, grid.shape[2] - 1);
  const count = axes === "heads" ? grid.shape[3] : grid.shape[2];
  if (axes === "heads" && grid.shape[2] > 1) panel.title += `, layer ${layer + 1}`;
  for (let line = 0; line < count; line++) {
    if (axes === "heads" && isHidden(run, state, `heads ${line}`)) continue;
    const ofHead = axes === "heads";
    const colour = ofHead ? css(palette.heads[line]) : palette.lines[line % palette.lines.length];
    const name = ofHead ? `head ${line + 1}` : `${line + 1}`;
    const pick = (seed, time) => (ofHead ? grid.at(seed, time, layer, line) : grid.at(seed, time, line));
    const last = draw(pick, { colour, name });
    if (last !== undefined) panel.labels.push({ value: last, text: name, colour: palette.rungWords[0] });
  }
  return panel;
}
