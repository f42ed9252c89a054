/** Amounts in words, for people: on terminals and on the page. */

/** `1 message`, `2,000 messages`. */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
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
