// One run as the slider shows it: words, charts, pictures, bars, triangle. Two of them stand side by side.
import { mountCharts } from "./charts.js";
import { mountCombined } from "./combined.js";
import { element } from "./dom.js";
import { mountHeads } from "./heads.js";
import { mountLags } from "./lags.js";
import { mountLegend } from "./legend.js";
import { mountMasses } from "./masses.js";
import { mountMeasures } from "./measures.js";
import { narrate } from "./narration.js";
import { mountPortraits } from "./portrait.js";
import { mountScores } from "./scores.js";
import { mountStretch } from "./stretch.js";
import { oneHeadEach, when } from "./terms.js";
import { mountTriangle } from "./triangle.js";
import { mountValues } from "./values.js";

/** What is happening now, in a sentence. */
function mountNarration(host, report, selection) {
  const say = ({ run, seed, layer, time, playing }) => {
    const { lead, words, numbers } = narrate(report.runs[run], seed, layer, time);
    // A screen reader should hear where playing ended, not every picture on the way.
    host.setAttribute("aria-live", playing ? "off" : "polite");
    host.replaceChildren(
      element("b", {}, lead),
      words ? `: ${words}. ` : ". ",
      element("span", { class: "quiet" }, numbers),
    );
  };
  say(selection.state);
  selection.watch(say);
}

/** Which of the two runs this is; alone, the controls say it. */
function mountName(host, report, selection) {
  const write = ({ run, seed, time, other, lacks }) => {
    host.hidden = other < 0;
    const shown = report.runs[run];
    const now = shown.times[time];
    const place = now === undefined ? "" : `, ${when(shown, now)}`;
    const words = ` seed ${shown.seeds[seed]}${place}`;
    const missing = lacks ? element("span", { class: "badge partly" }, `has no stage ${lacks}`) : null;
    host.replaceChildren(shown.label, element("span", { class: "quiet" }, words), ...(missing ? [" ", missing] : []));
  };
  write(selection.state);
  selection.watch(write);
}

/** Draw the chart when its library is there: it is large, stands last in the page, and keeps nobody waiting. */
const whenLoaded = (draw) =>
  window.Plotly ? draw() : document.addEventListener("DOMContentLoaded", draw, { once: true });

/** Everything that follows the selection, inside `host`; `named` gives the parts the names that links and keys use. */
export function mountView(host, report, selection, named) {
  const part = (tag, id, attributes = {}) => element(tag, { id: named ? id : null, class: id, ...attributes });
  const name = element("h3", { class: "view-name" });
  const narration = part("p", "narration", { role: "status" });
  const legend = part("div", "chart-legend", { class: "legend" });
  const charts = part("div", "charts");
  const combined = part("div", "combined");
  const masses = part("div", "masses");
  const values = part("div", "values", { hidden: true });
  const lags = part("div", "lags", { hidden: true });
  const measures = part("div", "measures", { hidden: true });
  const scores = part("div", "scores", { class: "panel scores", hidden: true });
  const stretch = part("div", "stretch", { class: "panel stretch", hidden: true });
  const portraits = part("div", "portraits", { hidden: true });
  const triangle = part("figure", "triangle-figure");
  const heads = part("div", "heads", { class: "each-head" });
  const below = element("div", { class: "below" });
  const beside = element("div", { class: "panel beside" }, combined, masses, values);
  const headsArea = element("div", { class: "heads" }, triangle, heads);
  const place = () => {
    // What there is most of stands beside the charts, where the slider is in sight; the rest below.
    const run = report.runs[selection.state.run];
    if (oneHeadEach(run)) beside.prepend(heads);
    else if (heads.parentElement !== headsArea) headsArea.append(heads);
    (run.pictures && !oneHeadEach(run) ? below : beside).append(lags, measures);
    host.classList.toggle("pictured", run.pictures);
    const something = run.pictures || run.places || run.arrays.attention_by_lag;
    // Charts alone may take the whole width: an empty column beside them would be one.
    host.classList.toggle("alone", !something && !run.measures.some(({ axes, family }) => axes === "heads" && !family));
  };
  host.append(
    name,
    narration,
    element("div", { class: "stagearea" }, element("div", { class: "panel" }, charts, legend), beside),
    stretch,
    scores,
    portraits,
    headsArea,
    below,
  );
  place();
  selection.watch((_, changed) => changed.has("run") && place());
  mountName(name, report, selection);
  mountNarration(narration, report, selection);
  mountLegend(legend, report, selection);
  mountCombined(combined, report, selection);
  mountMasses(masses, report, selection);
  mountValues(values, report, selection);
  mountLags(lags, report, selection);
  mountMeasures(measures, report, selection);
  mountStretch(stretch, report, selection);
  mountScores(scores, report, selection);
  mountTriangle(triangle, report, selection, beside);
  mountPortraits(portraits, report, selection);
  mountHeads(heads, report, selection, headsArea);
  whenLoaded(() => mountCharts(charts, report, selection));
}
