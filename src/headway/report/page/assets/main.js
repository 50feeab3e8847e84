// Put the report on the page. Sections that would be empty stay hidden.
import { holdsState, mountAddress, read } from "./address.js";
import { forgetTheme } from "./colour.js";
import { mountComparison } from "./compare.js";
import { mountControls } from "./controls.js";
import { readReport, unzipped } from "./data.js";
import { find } from "./dom.js";
import { mountGallery } from "./gallery.js";
import { mountGlossary } from "./glossary.js";
import { followLive } from "./live.js";
import { mountMasthead, writeSummary } from "./masthead.js";
import { playOnce } from "./playback.js";
import { mountReading } from "./reading.js";
import { mountResults } from "./results.js";
import { mountCommands, mountRuns, mountStages } from "./runs.js";
import { makeSelection } from "./selection.js";
import { mountVerdicts } from "./verdicts.js";
import { mountView } from "./view.js";
import { ladderFor } from "./terms.js";
import { mountWalk } from "./walk.js";

const reveal = (id) => (find(id).hidden = false);

/** How the page opens: the first run as it ended. */
const usualState = (report) => ({
  run: 0,
  seed: 0,
  layer: 0,
  time: Math.max(0, (report.runs[0]?.times.length ?? 0) - 1), // what was learnt; playing starts over
  playing: false,
  logTime: true,
  logValue: null, // as the run needs it, until the reader chooses
  ladder: report.runs.length ? ladderFor(report.runs[0], "") : "rungs",
  curves: "", // what the reader wants the second chart to show, wherever a run has it
  hidden: new Set(), // lines of the second chart that are not as they were when it opened
  muted: new Set(),
  stripes: null, // as many heads need it, until the reader chooses
  speed: 1,
  left: new Set(), // seeds that the charts leave out
  other: -1, // the run that stands beside, if there is one
  otherSeed: 0,
  over: false, // the second run's curves are laid over those of the first
  align: "clock",
  reading: false,
  theme: 0,
});

/** Now, or when the parser has come to the end: unpacking the data may take shorter or longer. */
const whenParsed = (act) => (document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", act) : act());

async function start() {
  const report = readReport(await unzipped(find("data").textContent).text(), find("pictures").textContent);
  const isResults = Boolean(report.highlights?.length);
  const usual = usualState(report);
  const asked = report.runs.length > 0 && holdsState(location.hash);
  const selection = makeSelection(asked ? { ...usual, ...read(report, location.hash, usual) } : usual);
  writeSummary(find("summary"), report, selection.state.run);
  if (report.runs.length) {
    reveal("watch");
    mountMasthead(report, selection);
    mountReading(find("reading"), find("reading-words"), find("task-drawing"), report, selection);
    const playback = mountControls(find("controls"), report, selection);
    mountWalk(find("walk"), report, selection);
    mountView(find("view"), report, selection, true);
    mountComparison(find("views"), report, selection, (second) => mountView(find("second"), report, second, false));
    if (mountStages(find("stage-tables"), report)) reveal("stages");
    mountRuns(find("run-details"), report);
    mountAddress(report, selection, usual);
    if (!asked && !report.live && !isResults) whenParsed(() => playOnce(playback, selection));
    if (!report.live && !isResults) find("verdict-table").before(document.querySelector(".introduction")); // the run's own words come first
  }
  if (isResults) mountResults(document.querySelector("main"), report);
  else if (report.findings.length) {
    reveal("verdicts");
    mountVerdicts(find("verdict-table"), report);
  }
  if (report.figures.length) {
    reveal("figures");
    mountGallery(find("figure-groups"), report);
  }
  if (report.runs.length || report.commands.length) reveal("sources");
  mountGlossary(find("glossary"), report);
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
  // What an address leads to was not there when the browser looked for it.
  if (!asked && location.hash.length > 1) find(location.hash.slice(1))?.scrollIntoView();
  whenParsed(() => (document.documentElement.dataset.ready = "true"));
}

start();
