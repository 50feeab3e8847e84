// The words of the page, each in a sentence or two, as the documentation has them: the page points at no other file.
import { element } from "./dom.js";
import { formula } from "./formula.js";

const WORDS = {
  "ladder, rung":
    "Reference predictors from knowing nothing to the truth: each is a rung, all of them in this order are the ladder. For a Markov " +
    "chain with blocks of lags, rung i knows the first i blocks; rung 0 is uniform, the last one the truth.",
  "KL to a rung":
    "KL(rung ‖ model), the mean over test sequences and predicted positions, in nats. Where predictions are numbers, half the " +
    "mean squared distance takes its place.",
  median:
    "Of the seeds; of an even number of seeds the mean of the middle two. Where one of these has dropped and the other has not, " +
    "the thick line of a chart passes where no seed does.",
  "minima in order":
    "The step at which KL to rung i reaches its minimum is later for each higher i. This is what claims about order count, " +
    "unless they say otherwise. A model that learns everything at once and only grows in confidence can have it, too.",
  stage:
    "For each rung that the model reaches, take how far KL now lies above its lowest value in this run. The stage is that of the rung " +
    "for which this is smallest. Stages that last fewer than 2 evaluations, or that end less than 10 % later than they began, are ignored. A " +
    "seed counts as having entered the last stage if it was in it at some step; seeds that made no turn to a stage, went back or took another order are " +
    "named. Entering a stage means that the model has turned towards its rung, not that it has arrived. The time before stage 1 is the start.",
  turn:
    "A rung is reached after another only by a turn: KL to the new rung falls while KL to the old one rises, each by more than 3 % of its fall. The fall is counted from the minimum of KL to the rung reached before the old one (for the first turn, from the beginning of training). Both changes are measured from the minimum of KL to the old rung to the later minimum of KL to the new one. So " +
    "minima can be in order in more seeds than reach the last stage.",
  boundary:
    "The step at which one stage ends and the next begins: both KL values are then equally far above their minima. In a run without a ladder, " +
    "and in a gradient flow, it is where the loss is half-way from one level to the next.",
  plateau:
    "A time in which the loss hardly falls, between two drops. In laws of its duration: the time until the test loss is at most " +
    "0.1, or until the accuracy is 5 %.",
  "clarity of a plateau":
    "1 - (slowest rate between two drops) / (peak rate of the slower drop), where the rate is how fast the loss falls over the logarithm " +
    "of time: 1 if the loss is constant, 0 if it falls without a pause.",
  "by confidence alone":
    "How near to a rung a model comes whose logits are those of the truth times the factor that brings it nearest (for real text, whose " +
    "truth is not known, those of the model at the end of training). A model that comes nearer has done more than grow in confidence.",
  "excess loss": "Cross-entropy of the model minus that of the truth, on the same test tokens, in nats.",
  "competition index":
    "The probability that two heads, each drawing a lag from its attention, draw the same block; the mean over pairs of heads. 0 if no two " +
    "heads share a block, 1 if all attend to one.",
  "compete, cooperate, specialise":
    "Heads compete while the competition index rises and cooperate when it has fallen again. The cooperation index is the mean over blocks of " +
    "the largest attention that a head gives to the block. Heads have specialised when each attends most to a block of its own.",
  "block, lag":
    "A lag is a distance back: lag 1 is the newest token. The chain of paper A has blocks of lags, block 1 the most important one; the paper " +
    "writes I(1) for block 1 and f_{1:1} for rung 1.",
  incremental:
    "Paper A's word for learning one block after the other. Claims count it by minima in order, unless their definition says otherwise.",
  "minimal model, full model":
    "In paper A, the full model is a transformer with one layer and three heads; the minimal model is the same without embedding, norm, residual " +
    "path, MLP, key and output matrices.",
  "n-gram model": "The same transformer, trained on windows of c tokens.",
  "n-gram, k-gram":
    "Predicts a token from the n - 1 (or k - 1) tokens before it: a unigram from none, a bigram from one, a trigram from two.",
  "gradient flow":
    "Gradient descent with infinitely small steps, solved as a differential equation for a simplified model (paper A). Its clock is a time, not a " +
    "number of steps.",
  "Pi once, Pi twice":
    "Two gradient flows. Π(s) = diag(s) - s sᵀ is the derivative of a softmax: the flow printed in paper A applies it twice, as training through a " +
    "softmax does; the simulation of the authors applies it once (as-run).",
  "toy model":
    "In paper B: one layer of attention that has to find the one relevant token among T, and to learn a matrix W* of size d × d; W is the matrix " +
    "that it has learnt so far.",
  "T, d, B, p":
    "In paper B: the length of the context, the dimension of a token, how often the relevant token occurs in the context (copies), and the share of " +
    "samples that repeat one vector (in recall: that ask for one of two favourite keys).",
  "holds, partly, fails, cannot be judged":
    "A claim is tested in every seed: it holds if it holds in all of them, holds partly if in at least half, and fails otherwise. A seed cannot " +
    "be judged if what the claim compares could not be measured, for example because a plateau is missing; it counts as a seed in which the claim does not hold. " +
    "A claim cannot be judged if it holds in fewer than half of the seeds and none of the others can be judged. Numbers are " +
    "medians over seeds, in brackets the 95 % interval of the median (a bootstrap, which is too narrow with few seeds).",
};

// Words of one paper or one kind of run -> what a page speaks of that needs them; all others are always there.
const NEEDED_BY = {
  "minimal model, full model": /minimal|full model/i,
  "n-gram model": /n-gram model/i,
  "n-gram, k-gram": /gram/i,
  "gradient flow": /flow/i,
  "Pi once, Pi twice": /flow/i,
  "toy model": /toy/i,
  "T, d, B, p": /toy|recall|repetition|single location/i,
};

/** What a page speaks of: its titles, runs and claims. */
function spoken({ title, runs, findings }) {
  const named = runs.flatMap((run) => [run.title, run.label]);
  return [title, ...named, ...findings.map(({ statement }) => statement)].join(" ");
}

/** Folded; a link to it opens it. */
export function mountGlossary(host, report) {
  const words = spoken(report);
  const used = Object.entries(WORDS).filter(([word]) => NEEDED_BY[word]?.test(words) ?? true);
  const entries = used.flatMap(([word, meaning]) => [
    element("dt", {}, word),
    element("dd", {}, formula(meaning)),
  ]);
  const node = element("details", {}, element("summary", {}, "Words used on this page"), element("dl", { class: "glossary" }, entries));
  host.append(node);
  const open = () => location.hash === "#glossary" && (node.open = true);
  document.addEventListener("click", (event) => event.target.closest?.('a[href="#glossary"]') && (node.open = true));
  window.addEventListener("hashchange", open);
  open();
}
