// Numbers and dates as people read them.

/** A count with its noun: 1 post, 1,200 posts. */
export function counted(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en").replace("-", "−")} ${count === 1 ? noun : plural}`;
}

/** A score in three digits that matter. */
export function score(value) {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** Seconds, in milliseconds when they are short. */
export function duration(seconds) {
  return seconds < 1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : `${seconds.toFixed(1)} s`;
}

/** The day of a date as the server writes it. */
export function day(date) {
  return date.slice(0, 10);
}
