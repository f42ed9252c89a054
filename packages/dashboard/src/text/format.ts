import { span } from "@sluice/protocol/words";

/** An amount of money, small ones to their first digits. */
export function usd(amount: number): string {
  if (amount === 0) return "$0";
  if (amount < 0.0001) return "<$0.0001";
  return `$${amount.toFixed(amount < 0.1 ? 4 : amount < 100 ? 2 : 0)}`;
}

/** How long ago a moment was, by the clock that `now` comes from. */
export function ago(iso: string, now: string): string {
  const ms = Date.parse(now) - Date.parse(iso);
  return ms < 500 ? "just now" : `${span(ms)} ago`;
}

/** How far ahead a moment is. */
export function ahead(iso: string, now: string): string {
  const ms = Date.parse(iso) - Date.parse(now);
  return ms < 500 ? "now" : `in ${span(ms)}`;
}

/** A URL without its query and credentials, which may be keys. */
export function shortUrl(text: string): string {
  const url = URL.parse(text);
  return url === null ? text : `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}

/** How long something took, to two parts: `12 ms`, `1.2 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const parts = (large: number, small: number, [one, other]: readonly [string, string]) => {
    const rest = Math.floor((seconds % large) / small);
    return `${Math.floor(seconds / large)} ${one}${rest === 0 ? "" : ` ${rest} ${other}`}`;
  };
  if (seconds < 3_600) return parts(60, 1, ["min", "s"]);
  return seconds < 86_400 ? parts(3_600, 60, ["h", "min"]) : parts(86_400, 3_600, ["d", "h"]);
}

/** A moment by this machine's clock, to the millisecond, with its day unless that is the one of `now`. */
export function moment(iso: string, now: string): string {
  const date = new Date(iso);
  const day =
    date.toDateString() === new Date(now).toDateString() ? "" : `${date.toLocaleDateString("en-CA")} `;
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  return `${day}${time}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** Beginning of an id, long enough to tell the messages of a page apart. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** Messages a second: `1.2/s`, `1,200/s`. */
export function rateText(rate: number): string {
  return rate >= 10 ? `${Math.round(rate).toLocaleString("en")}/s` : `${rate.toFixed(1)}/s`;
}
