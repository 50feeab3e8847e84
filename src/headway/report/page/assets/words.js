// Numbers and lists as a person would say them.

/** Three figures that matter, no exponent where it can be avoided, a dash for what is not there. */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6))
    return value.toExponential(1).replace("e+", "e").replaceAll("-", "−");
  if (size >= 1000 || Number.isInteger(value)) return whole(value);
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

/** Three digits always, zeros too, as KL and losses stand beside each other: "1.00", "0.325". */
export function threeDigits(value) {
  const size = Math.abs(value ?? NaN);
  if (!(size > 0) || size >= 1000) return number(value);
  if (size >= 999.5) return whole(value); // 1e+3 otherwise
  const digits = size < 1e-3 ? value.toExponential(2) : value.toPrecision(3);
  return digits.replaceAll("-", "−");
}

export const whole = (value) =>
  Number.isFinite(value) ? Math.round(value).toLocaleString("en").replaceAll(",", "\u202f") : "–";

export const percent = (share) => (Number.isFinite(share) ? `${Math.round(100 * share)}\u00a0%` : "–");

/** A share that a rule compares with `rule`: with as many digits as it takes to lie on the same side in print. */
export function percentBeside(rule, share) {
  const above = share > rule;
  const sameSide = (printed) => printed > 100 * rule === above;
  if (!Number.isFinite(share) || sameSide(Math.round(100 * share))) return percent(share);
  const finer = (100 * share).toFixed(1);
  return sameSide(Number(finer)) ? `${finer}\u00a0%` : `${above ? "more than " : ""}${percent(rule)}`;
}

/** "a", "a and b", "a, b and c". */
export function joined(items) {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** 1 seed, 2 seeds. */
export const counted = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;

/** [1, 2, 3, 7] as [[1, 3], [7, 7]]: neighbours belong together. */
export function ranges(lags) {
  const found = [];
  for (const lag of [...lags].sort((a, b) => a - b)) {
    if (found.length && lag === found.at(-1)[1] + 1) found.at(-1)[1] = lag;
    else found.push([lag, lag]);
  }
  return found;
}

/** "lag 1", "lags 1–4", "lags 1–2 and 7". */
export function lagWords(lags) {
  const parts = ranges(lags).map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`));
  return `${lags.length === 1 ? "lag" : "lags"} ${joined(parts)}`;
}

const sorted = (values) => values.filter(Number.isFinite).sort((a, b) => a - b);

export function median(values) {
  const finite = sorted(values);
  if (!finite.length) return NaN;
  const middle = finite.length >> 1;
  return finite.length % 2 ? finite[middle] : (finite[middle - 1] + finite[middle]) / 2;
}

/** "head 2", "heads 1 and 3", counted from one as people do. */
export const headWords = (heads) =>
  `${heads.length === 1 ? "head" : "heads"} ${joined(heads.map((head) => `${head + 1}`))}`;

/** The first letter large, as at the start of a sentence. */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
