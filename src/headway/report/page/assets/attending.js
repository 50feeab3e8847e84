// Where each head attends when one token of a stretch is predicted: the stretch once a head, shaded by its weights.
import { css, mix, paletteOf } from "./colour.js";
import { nearestIndex } from "./data.js";
import { element } from "./dom.js";
import { allHeads, chip, shownLayers } from "./pictures.js";
import { headName, oneHeadEach, when } from "./terms.js";
import { percent, sentence } from "./words.js";

const ARRAY = "shown_attention";
const DARKEST = 0.7; // of the head's colour behind a token: letters stay readable on it
const FAINTEST = 0.004; // weights below are not drawn

export const hasAttention = (run) => Boolean(run.arrays[ARRAY] && run.clocks[`${ARRAY} `]?.length);

/** A token as a sentence names it. */
export const quoted = (token) => `“${token.replaceAll(" ", "␣")}”`;

/** The first token for which attention is known: that from the position before it. */
export const firstKnown = (run, count) => Math.max(1, count - run.arrays[ARRAY].shape[4]);

/** The time at which the attention that is shown was taken, the nearest to the slider's. */
function taken(run, state) {
  const times = run.clocks[`${ARRAY} `];
  const index = nearestIndex(times, run.times[state.time]);
  return { index, step: times[index] };
}

/** Weights on the tokens before number `token` of `count`, when it is predicted. The last row is that of the last. */
export function weightsFor(run, state, layer, head, token, count) {
  const grid = run.arrays[ARRAY];
  const row = grid.shape[4] - (count - token);
  return grid.row(state.seed, taken(run, state).index, layer, head, row).subarray(0, token);
}

/** `host` below the stretch whose tokens are `words`; `draw(token)` shows the attention behind that one. */
export function makeAttending(run, state, words) {
  const palette = paletteOf(run);
  const title = element("h3", {});
  const views = shownLayers(run, state).flatMap((layer) =>
    allHeads(run).map((head) => {
      const tokens = words.map((word) => element("span", { class: "word" }, word));
      const most = element("span", { class: "quiet" });
      const mark = oneHeadEach(run) ? null : chip(head, palette);
      const caption = element("figcaption", {}, mark, `${sentence(headName(run, layer, head))} `, most);
      const figure = element("figure", { class: "attending-head" }, caption, element("p", {}, tokens));
      return { layer, head, tokens, most, figure };
    }),
  );
  const figures = element("div", { class: "attending-heads" }, views.map(({ figure }) => figure));
  const host = element("div", { class: "attending" }, title, figures);

  const drawHead = ({ layer, head, tokens, most }, token) => {
    const weights = weightsFor(run, state, layer, head, token, words.length);
    tokens.forEach((each, k) => {
      const weight = k < token ? weights[k] : 0;
      const shade = weight > FAINTEST ? css(mix(palette.paper, palette.heads[head], DARKEST * Math.sqrt(weight))) : "";
      each.style.setProperty("background", shade);
      each.className = k === token ? "word asked" : k > token ? "word later" : "word";
    });
    const top = weights.indexOf(Math.max(...weights));
    most.textContent = top < 0 ? "unknown" : `most on ${quoted(words[top])}, lag ${token - top}: ${percent(weights[top])}`;
  };
  const draw = (token) => {
    const { step } = taken(run, state);
    const between = step === run.times[state.time] ? "" : `taken at ${when(run, step)}; `;
    title.replaceChildren(
      `Attention when ${quoted(words[token])} is predicted `,
      element("span", { class: "quiet" }, `${between}stronger colour: more attention; choose another token above`),
    );
    for (const view of views) drawHead(view, token);
  };
  return { host, draw };
}
