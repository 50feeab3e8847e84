// Put the report on the page. Sections that would be empty stay hidden.
import { forgetTheme } from "./colour.js";
import { mountComparison } from "./compare.js";
import { mountControls } from "./controls.js";
import { readReport } from "./data.js";
import { element, find } from "./dom.js";
import { mountGallery } from "./gallery.js";
import { followLive } from "./live.js";
import { mountReading } from "./reading.js";
import { mountCommands, mountRuns, mountStages } from "./runs.js";
import { makeSelection } from "./selection.js";
import { summarise, tally } from "./summary.js";
import { mountVerdicts } from "./verdicts.js";
import { mountView } from "./view.js";
import { headingOf, ladderFor } from "./terms.js";
import { mountWalk } from "./walk.js";

const reveal = (id) => (find(id).hidden = false);

function writeSummary(host, report, chosen = 0) {
  const several = report.runs.length > 1;
  const sections = [...new Set(report.runs.map((run) => run.section ?? ""))];
  const told = () =>
    sections.flatMap((section) => [
      ...(section ? [element("h3", {}, section)] : []),
      ...report.runs
        .filter((run) => (run.section ?? "") === section)
        .map((run) => element("p", {}, element("b", {}, `${run.label}: `), summarise(run))),
    ]);
  // What is chosen stands above the slider; of many runs the sentences would push everything else out of sight.
  const words = `${report.runs.length} runs, each in a sentence`;
  // Written when somebody unfolds it: of a hundred runs the curves need not be unpacked for this.
  const tell = () => folded.childElementCount > 1 || folded.append(...told());
  const folded = element("details", { class: "all-runs", ontoggle: tell }, element("summary", {}, words));
  host.append(
    ...(report.runs.length ? [element("p", { class: "chosen" }, summarise(report.runs[chosen]))] : []),
    ...(several ? [folded] : []),
    ...(report.notes ?? []).map((note) => element("p", { class: "quiet" }, note)),
    ...(report.findings.length ? [element("p", {}, tally(report.findings))] : []),
    ...(report.runs.length || report.findings.length || report.live // there the list of cells says it
      ? []
      : [element("p", {}, "This report holds no run and no finding yet.")]),
  );
}

function start() {
  const report = readReport(find("data").textContent);
  writeSummary(find("summary"), report);
  const selection = makeSelection({
    run: 0,
    seed: 0,
    layer: 0,
    time: Math.max(0, (report.runs[0]?.times.length ?? 0) - 1), // what was learnt; playing starts over
    playing: false,
    logTime: true,
    logValue: false,
    ladder: report.runs.length ? ladderFor(report.runs[0], "") : "rungs",
    hidden: new Set(), // lines of the second chart that are not as they were when it opened
    muted: new Set(),
    stripes: false,
    speed: 1,
    left: new Set(), // seeds that the charts leave out
    other: -1, // the run that stands beside, if there is one
    otherSeed: 0,
    align: "clock",
    theme: 0,
  });
  if (report.runs.length) {
    reveal("reading");
    reveal("watch");
    const name = ({ run }) => {
      const words = headingOf(report.runs[run]);
      Object.assign(find("watch-title"), { textContent: words, title: words }); // a long one is cut
    };
    name(selection.state);
    selection.watch((state, changed) => {
      if (!changed.has("run")) return;
      name(state);
      find("summary").querySelector(".chosen").textContent = summarise(report.runs[state.run]);
    });
    mountReading(find("reading-words"), find("task-drawing"), report, selection);
    mountControls(find("controls"), report, selection);
    mountWalk(find("walk"), report, selection);
    mountView(find("view"), report, selection, true);
    mountComparison(find("views"), report, selection, (second) => mountView(find("second"), report, second, false));
    if (mountStages(find("stage-tables"), report)) reveal("stages");
    mountRuns(find("run-details"), report);
  }
  if (report.findings.length) {
    reveal("verdicts");
    mountVerdicts(find("verdict-table"), report);
  }
  if (report.figures.length) {
    reveal("figures");
    mountGallery(find("figure-groups"), report.figures);
  }
  if (report.runs.length || report.commands.length) reveal("sources");
  mountCommands(find("commands"), report.commands);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    forgetTheme();
    selection.set({ theme: selection.state.theme + 1 });
  });
  const summary = (host) => writeSummary(host, report, selection.state.run);
  const told = { summary, "stage-tables": mountStages, "run-details": mountRuns };
  followLive(report, selection, told);
  performance.mark("slider"); // from here on the page can be used; the charts are still to come
  // For whoever opens the console, and for the tests: they wait until all is drawn.
  window.headway = { report, selection };
  document.addEventListener("DOMContentLoaded", () => (document.documentElement.dataset.ready = "true"));
}

start();
