/** Words for people: amounts, how deliveries go, and foreign texts as a terminal may show them. */

/** `1 message`, `2,000 messages`. */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** `1 message is`, `2,000 messages are`. */
export function pluralIs(count: number, noun: string): string {
  return `${plural(count, noun)} ${count === 1 ? "is" : "are"}`;
}

/** A number of bytes: `999 B`, `1.5 kB`, `2.0 MB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A span of time in its largest unit: `59 s`, `3 min`, `23 h`, `4 d`. A negative one is none. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/**
 * Whether deliveries fail now. In an empty queue nothing fails any more, however many deliveries in a row have failed:
 * their messages are acknowledged, dead-lettered or deleted.
 */
export function isFailing(
  consecutiveFailures: number,
  { ready, delayed, leased }: Readonly<Record<"ready" | "delayed" | "leased", number>>,
): boolean {
  return consecutiveFailures > 0 && ready + delayed + leased > 0;
}

/**
 * Says how the last deliveries of a queue failed that is empty since.
 *
 * @param when the last of them ended: `4 min ago`.
 */
export function failedText(consecutiveFailures: number, when: string, failure: string | null): string {
  const what =
    consecutiveFailures === 1
      ? `the last delivery failed ${when}`
      : `${consecutiveFailures.toLocaleString("en")} deliveries in a row failed, the last ${when}`;
  return failure === null ? what : `${what}: ${failure}`;
}

/** Says whether messages that are deleted come back, in a queue that keeps `finished` finished ones at most. */
export function afterDelete(finished: number): string {
  if (finished === 0) return "That cannot be undone.";
  const kept = `The queue keeps its last finished messages, ${finished.toLocaleString("en")} at most`;
  return `${kept}: what is among them can be read and sent again.`;
}

/** Says when lines were printed that may be about any message of a batch; empty for a batch of one message. */
export function duringBatch(messages: number): string {
  return messages > 1 ? `while its batch of ${messages.toLocaleString("en")} was handled` : "";
}

/** Sentences about printed lines of a delivery that are missing; none if none is. */
export function missingLines({
  leftOut,
  mixed,
}: {
  readonly leftOut: number;
  readonly mixed: number;
}): string[] {
  return [
    ...(leftOut === 0 ? [] : [`Left out: ${plural(leftOut, "line")}, since too much was printed.`]),
    ...(mixed === 0
      ? []
      : [
          `Left out: ${plural(mixed, "line")}, since other deliveries ran too. The compatibility flag nodejs_als ` +
            "tells whose a line is.",
        ]),
  ];
}

/**
 * Characters that move a terminal's cursor, change its colours or its title, turn the direction of a text, have no
 * width, or end a line in some terminals alone. `\n` and tabs stay.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

/** Makes a foreign text safe for a terminal: control characters are escaped, so that a message cannot act on it. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (one) => {
    const code = (one.codePointAt(0) ?? 0).toString(16);
    return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, "0")}`;
  });
}

/** Puts a foreign text on one line, safe for a terminal. */
export function oneLine(text: string): string {
  return printable(text.replace(/[\n\t\u2028\u2029]/g, " "));
}

/** Makes a foreign text safe for a terminal, its further lines indented: none looks like a line of ours. */
export function indented(text: string): string {
  return printable(text).replace(/\n(?! {2})/g, "\n  ");
}
