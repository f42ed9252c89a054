/** A number of bytes for people. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A span of time for people, in its largest unit; what is negative is none. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** How long ago a moment was, by the clock of who tells it. */
export function ago(iso: string, now: string): string {
  const ms = Date.parse(now) - Date.parse(iso);
  return ms < 500 ? "just now" : `${span(ms)} ago`;
}

/** How far ahead a moment is. */
export function ahead(iso: string, now: string): string {
  const ms = Date.parse(iso) - Date.parse(now);
  return ms < 500 ? "now" : `in ${span(ms)}`;
}

/** `1 message`, `2 messages`. */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Where a URL leads, without its query and credentials, which may be keys. */
export function shortUrl(text: string): string {
  const url = URL.parse(text);
  return url === null ? text : `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}
