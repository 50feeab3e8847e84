// A stretch of the text itself: below every token the rung whose prediction of it the model's is closest to, now; and
// for the token that is chosen, where each head attends.
import { firstKnown, hasAttention, makeAttending, quoted } from "./attending.js";
import { paletteOf } from "./colour.js";
import { element } from "./dom.js";
import { shownLayers } from "./pictures.js";
import { rungName } from "./terms.js";
import { threeDigits } from "./words.js";

/** A token as it is written; its code points come as numbers, zeros where there are no more. */
const spelt = (codes) => String.fromCodePoint(...[...codes].filter((code) => code > 0));

/** What cannot be seen is drawn by a sign. */
const shown = (token) => token.replaceAll("\n", "⏎").replaceAll("\t", "⇥");

const MOVES = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

export function mountStretch(host, report, selection) {
  const { state } = selection;
  const run = () => report.runs[state.run];
  let words = [];
  let tokens = [];
  let attending = null;
  let chosen = Infinity; // the last

  const drawRungs = () => {
    const { rungs } = paletteOf(run());
    const time = run().nearest[state.time];
    const nearest = run().arrays.shown_rung.row(state.seed, time);
    const loss = run().arrays.shown_loss?.row(state.seed, time);
    // The last tokens are predicted, those before are only read.
    const predicted = tokens.slice(words.length - nearest.length);
    predicted.forEach((token, k) => {
      const rung = nearest[k];
      const known = Number.isFinite(rung);
      token.style.setProperty("border-bottom-color", known ? rungs[Math.round(rung)] : "transparent");
      const name = known ? rungName(run(), Math.round(rung)) : "unknown";
      token.setAttribute("title", loss ? `${name}; loss ${threeDigits(loss[k])}` : name);
    });
  };
  const draw = () => {
    drawRungs();
    attending?.draw(chosen);
  };
  const choose = (wanted, focus = false) => {
    const first = firstKnown(run(), words.length);
    chosen = Math.max(first, Math.min(wanted, words.length - 1));
    tokens.forEach((token, k) => {
      if (k < first) return;
      token.setAttribute("aria-checked", k === chosen);
      token.setAttribute("tabindex", k === chosen ? 0 : -1);
    });
    if (focus) tokens[chosen].focus();
    attending.draw(chosen);
  };
  const follow = (token, k) => {
    token.setAttribute("role", "radio");
    token.setAttribute("aria-label", quoted(words[k]));
    token.addEventListener("pointerenter", () => choose(k));
    token.addEventListener("click", () => choose(k));
    token.addEventListener("keydown", (event) => {
      if (!(event.key in MOVES)) return;
      event.preventDefault();
      event.stopPropagation(); // elsewhere the arrows move the slider
      choose(k + MOVES[event.key], true);
    });
  };
  const build = () => {
    const written = run().facts.shown_written;
    attending = null;
    host.hidden = !written || !run().arrays.shown_rung;
    if (host.hidden) return void (tokens = []);
    const { rungs } = paletteOf(run());
    words = Array.from({ length: written.shape[1] }, (_, k) => shown(spelt(written.row(state.seed, k))));
    tokens = words.map((word) => element("span", { class: "token" }, word));
    const keys = run().rungNames.map((_, rung) =>
      element("span", { class: "token rung-key", style: { "border-bottom-color": rungs[rung] } }, rungName(run(), rung)),
    );
    const known = hasAttention(run());
    const text = known ? { role: "radiogroup", "aria-label": "Tokens; attention is shown for the chosen one" } : {};
    attending = known ? makeAttending(run(), state, words) : null;
    const first = known ? firstKnown(run(), words.length) : words.length;
    tokens.forEach((token, k) => k >= first && follow(token, k));
    const lacking = "This record does not contain the attention of each head in this text. New runs do.";
    host.replaceChildren(
      element("h3", {}, "Held-out text ", element("span", { class: "quiet" }, "each token in the colour of the rung closest to the model's prediction")),
      element("p", { class: "stretch-text", ...text }, tokens),
      element("p", { class: "stretch-keys" }, keys),
      attending ? attending.host : element("p", { class: "quiet stretch-lacking" }, lacking),
    );
    drawRungs();
    if (attending) choose(chosen);
  };

  build();
  selection.watch((_, changed) => {
    const another = changed.has("layer") && shownLayers(run(), state).length < run().layers;
    if (changed.has("run") || changed.has("theme") || changed.has("seed") || another) build();
    else if (!host.hidden && changed.has("time")) draw();
  });
}
