// The top of the page: what the chosen run is, and what happened to it in one sentence; the rest folds open.
import { element, find } from "./dom.js";
import { formula } from "./formula.js";
import { caveats, leadSentence, thresholdWords } from "./lead.js";
import { summarise } from "./summary.js";
import { headingOf } from "./terms.js";

/** Every run in a few sentences, under the titles of their sections. */
function allRuns(report) {
  const sections = [...new Set(report.runs.map((run) => run.section ?? ""))];
  return sections.flatMap((section) => [
    ...(section ? [element("h3", {}, section)] : []),
    ...report.runs
      .filter((run) => (run.section ?? "") === section)
      .map((run) => element("p", {}, element("b", {}, `${run.label}: `), summarise(run))),
  ]);
}

/** Written when somebody unfolds it: of a hundred runs the curves need not be unpacked for this. */
function folded(words, attributes, content) {
  const fill = () => node.childElementCount > 1 || node.append(...content());
  const node = element("details", { ...attributes, ontoggle: fill }, element("summary", {}, words));
  return node;
}

/** The sentence about a run, where its threshold ended it, warnings behind it, and its numbers folded. */
function aboutRun(run) {
  const warnings = caveats(run).map((words) => element("p", { class: "caveat" }, words));
  const numbers = folded("in numbers", { class: "in-numbers" }, () => [element("p", {}, summarise(run))]);
  const words = [leadSentence(run), thresholdWords(run)].filter(Boolean).join(" ");
  return [element("p", { class: "chosen" }, words), ...warnings, numbers];
}

export function writeSummary(host, report, chosen = 0) {
  const { runs, notes = [] } = report;
  const others = `${runs.length} runs, each in a sentence`;
  host.append(
    ...(runs.length ? [element("div", { class: "about-run" }, aboutRun(runs[chosen]))] : []),
    ...(runs.length > 1 ? [folded(others, { class: "all-runs" }, () => allRuns(report))] : []),
    ...notes.map((note) => element("p", { class: "quiet" }, formula(note))),
    ...(runs.length || report.findings.length || report.live // there the list of cells says it
      ? []
      : [element("p", {}, "This report contains no runs and no findings yet.")]),
  );
}

/** The title and the sentence follow the chosen run. */
export function mountMasthead(report, selection) {
  const title = find("watch-title");
  const name = (run) => Object.assign(title, { textContent: headingOf(run), title: headingOf(run) }); // a long one is cut
  title.hidden = false;
  name(report.runs[selection.state.run]);
  selection.watch(({ run }, changed) => {
    if (!changed.has("run")) return;
    name(report.runs[run]);
    const unfolded = find("summary").querySelector(".in-numbers")?.open;
    find("summary").querySelector(".about-run").replaceChildren(...aboutRun(report.runs[run]));
    find("summary").querySelector(".in-numbers").open = unfolded;
  });
}
