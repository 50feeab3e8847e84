// A page that `headway watch` serves asks for news and takes them in where it stands: nothing that the reader chose is lost.
import { nearestIndex, readReport } from "./data.js";
import { element, find, scrolling } from "./dom.js";
import { counted, joined, whole } from "./words.js";

const MOST_RUNS = 12; // that are taken into a page while it lies open; the list has links to the others
const FEW = 8; // cells that are listed without being asked for
const PATIENCE = 10; // so many times longer between two questions while nobody answers

const STATES = {
  running: ["is running", "are running"],
  stale: ["has stopped responding", "have stopped responding"],
  waiting: ["is waiting", "are waiting"],
  failed: ["failed", "failed"],
  stopped: ["was stopped", "were stopped"],
  damaged: ["is damaged", "are damaged"],
  done: ["is done", "are done"],
};

/** 42 -> "42 s", 185 -> "3 min", 8000 -> "2 h 13 min". */
export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "2 cells are running, 3 are waiting, 12 are done. About 4 min left." */
export function sweepWords({ counts, left, crowded }) {
  const known = Object.entries(STATES).filter(([state]) => counts[state]);
  if (!known.length) return "Nothing has been run in this folder yet.";
  const parts = known.map(([state, [one, many]], k) => {
    const count = counts[state];
    return `${k ? whole(count) : counted(count, "cell")} ${count === 1 ? one : many}`;
  });
  const words = [`${joined(parts)}.`];
  if (left.all !== null) words.push(`About ${duration(left.all)} left.`);
  else if (left.running !== null) words.push(`About ${duration(left.running)} left for what is running; the rest cannot be estimated yet.`);
  else if (counts.running) words.push("How long it will take cannot be estimated yet.");
  if (crowded) words.push("The folder holds more entries than are read at once: not everything is counted.");
  return words.join(" ");
}

/** Where the reader stands in a run whose numbers were replaced: at the same step, or still at its end. */
export function samePlace(before, after, time) {
  const last = Math.max(0, after.times.length - 1);
  if (time >= before.times.length - 1) return last;
  return nearestIndex(after.times, before.times[time]);
}

/** How far a cell has come, as a bar and in words. */
function howFar({ state, position, steps, left }) {
  if (!steps || (!["running", "stale", "stopped"].includes(state))) return null;
  const words = `step ${whole(position)} of ${whole(steps)}${left === null ? "" : `, about ${duration(left)} left`}`;
  return [element("progress", { value: position, max: steps, "aria-label": words }), ` ${words}`];
}

/** The list of cells, and a word on whether the server is still there. */
function mountSweep(report, open) {
  const words = element("p", { class: "sweep-words", role: "status" });
  const contact = element("p", { class: "quiet contact" });
  const bar = element("div", { class: "sweep-bar", "aria-hidden": "true" });
  const rows = element("tbody");
  const more = element("p", { class: "quiet" });
  const head = ["state", "cell", "progress"].map((text) => element("th", { scope: "col" }, text));
  const table = element("table", { class: "sweep" }, element("thead", {}, element("tr", {}, head)), rows);
  const list = element("details", { open }, element("summary", {}, "every cell"), scrolling(table), more);
  const title = element("h2", { id: "live-title" }, "In this folder");
  const home = location.pathname === "/" ? null : element("p", {}, element("a", { href: "/" }, "All runs of this folder"));
  const host = element("section", { id: "live", "aria-labelledby": "live-title" }, title, words, bar, list, home, contact);
  find("summary").before(host); // what is going on comes first, what was found after it

  const name = (cell) => {
    const index = placeOf(cell);
    const text = cell.label || cell.identity;
    if (index >= 0 && report.runs[index]) {
      const show = () => {
        const chooser = find("run"); // it knows what else has to change with the run
        chooser.value = String(index);
        chooser.dispatchEvent(new Event("change"));
        find("watch").scrollIntoView();
      };
      return element("button", { type: "button", class: "link", onclick: show }, text);
    }
    return cell.showable ? element("a", { href: `/run/${cell.identity}` }, text) : text;
  };
  const placeOf = (cell) => report.live.state.runs.findIndex((run) => run.identity === cell.identity);
  const whereWords = (cell) => {
    if (cell.state !== "done") return null;
    const words = !cell.showable ? "no curve over time to draw" : placeOf(cell) >= 0 ? "on this page" : "on a separate page";
    return element("span", { class: "quiet" }, words);
  };
  const row = (cell) =>
    element(
      "tr",
      { "data-state": cell.state },
      element("td", {}, element("span", { class: `badge ${cell.state}` }, cell.state)),
      element("th", { scope: "row", title: `${cell.identity}: ${cell.words}` }, name(cell)),
      element("td", {}, cell.trouble || howFar(cell) || whereWords(cell)),
    );
  return {
    say: (text) => (contact.textContent = text),
    show(state) {
      const told = sweepWords(state);
      if (words.textContent !== told) words.textContent = told; // or a screen reader would repeat it
      bar.replaceChildren(...barOf(state));
      const lead = document.querySelector(".introduction");
      if (lead.textContent !== state.lead) lead.textContent = state.lead; // it was true when the page was loaded
      const focused = [...rows.querySelectorAll("button, a")].indexOf(document.activeElement);
      rows.replaceChildren(...state.cells.map(row));
      if (focused >= 0) rows.querySelectorAll("button, a")[focused]?.focus();
      more.textContent = state.unlisted ? `and ${counted(state.unlisted, "other")} that are not listed` : "";
      list.hidden = !state.cells.length;
      // What went wrong should not have to be looked for.
      if (state.counts.failed && !list.dataset.told) list.open = list.dataset.told = true;
    },
  };
}

/** A part of the bar for every state, as wide as it has cells; what runs is filled as far as it has come. */
function barOf({ counts, cells }) {
  const states = Object.keys(STATES).filter((state) => counts[state]);
  return states.map((state) => {
    const own = cells.filter((cell) => cell.state === state && cell.steps);
    const share = own.reduce((sum, { position, steps }) => sum + position / steps, 0) / counts[state];
    const style = { "flex-grow": counts[state], "--share": `${(100 * share).toFixed(1)}%` };
    return element("i", { class: state, style });
  });
}

/** Mount the words about all runs once more, and leave open what was open. */
function retell(report, mounts) {
  for (const [id, mount] of Object.entries(mounts)) {
    const host = find(id);
    const lastOpen = [...host.querySelectorAll("details")].map((each) => each.open);
    host.replaceChildren();
    const something = mount(host, report);
    host.querySelectorAll("details").forEach((each, k) => (each.open = lastOpen[k] ?? each.open));
    if (something) host.closest("section").hidden = false;
  }
}

/** Let everything that follows the selection draw anew: its runs are others now, though their numbers are the same. */
function redraw(selection, time) {
  const { state } = selection;
  const { run, theme } = state;
  state.run = -1; // or `set` would see no change
  selection.set({ run, time, theme: theme + 1 });
}

/** The numbers of a run, unpacked; null where they cannot be shown: its own page says why. */
async function fetchRun({ identity }) {
  const answer = await fetch(`/run/${identity}.json`, { cache: "no-store" });
  if (answer.status === 503) throw new Error("a run is being written"); // soon it will not be
  return answer.ok ? readReport(await answer.text()).runs[0] : null;
}

/** Fetch the runs that have changed, take them in, and remember what is known now. */
async function takeIn(report, selection, news, mounts) {
  const { refused } = report.live;
  const known = report.live.state.runs;
  const place = ({ identity }) => known.findIndex((each) => each.identity === identity);
  const differs = (run) => ![known[place(run)]?.revision, refused.get(run.identity)].includes(run.revision);
  if (!report.runs.length && news.runs.length) return void location.reload(); // nothing is lost, and all is mounted
  const other = news.runs.filter(differs);
  const added = other.filter((run) => place(run) < 0).slice(0, Math.max(0, MOST_RUNS - report.runs.length));
  const wanted = [...other.filter((run) => place(run) >= 0), ...added];
  const fetched = await Promise.all(wanted.map(fetchRun));
  // From here on nothing is waited for, so that the reader cannot move something in between.
  let { time } = selection.state;
  wanted.forEach((run, k) => {
    if (!fetched[k]) return void refused.set(run.identity, run.revision);
    // New ones at the end: the numbers by which runs are chosen stay what they are.
    const index = place(run) < 0 ? report.runs.length : place(run);
    if (index === selection.state.run) time = samePlace(report.runs[index], fetched[k], time);
    report.runs[index] = fetched[k];
    known[index] = run;
  });
  report.live.state = { ...news, runs: known };
  if (!fetched.some(Boolean)) return;
  redraw(selection, time);
  retell(report, mounts);
}

/** Keep a served page up to date; `mounts` are {id of a host: what writes into it} that the slider does not move. */
export function followLive(report, selection, mounts) {
  if (!report.live) return;
  const live = Object.assign(report.live, { refused: new Map() });
  const sweep = mountSweep(report, live.state.cells.length <= FEW);
  sweep.show(live.state);
  document.querySelector("footer").textContent =
    "Served by headway watch from this machine; nothing is fetched from anywhere else.";
  let revision = live.state.revision;
  let misses = 0;
  let timer = 0;
  let asking = false;
  const again = () => {
    clearTimeout(timer);
    timer = setTimeout(look, live.every * Math.min(PATIENCE, 1 + misses));
  };
  const look = async () => {
    if (asking || document.hidden) return again();
    asking = true;
    try {
      const answer = await fetch(live.news, { cache: "no-store", headers: { "If-None-Match": `"${revision}"` } });
      if (answer.status !== 304) {
        if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
        const news = await answer.json();
        await takeIn(report, selection, news, mounts);
        revision = news.revision;
        sweep.show(live.state);
      }
      misses = 0;
      sweep.say(`Up to date at ${new Date().toLocaleTimeString()}.`);
    } catch (error) {
      misses += 1;
      sweep.say(`No update from the server (${error.message}): is headway watch still running? The page shows the last numbers it received.`);
    }
    asking = false;
    again();
  };
  document.addEventListener("visibilitychange", () => !document.hidden && look());
  again();
}
