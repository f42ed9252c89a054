import { isDeepStrictEqual } from "node:util";
import type { MessageMatch, Story } from "../api.ts";

/** Stories that an error tells. */
const TOLD_MAX = 10;

/** Whether what is asked for has happened to a message, now or before. */
export function fits(story: Story, { queue, body, state }: MessageMatch): boolean {
  const has = story.events.some((event) => event.what === state && (queue ?? event.queue) === event.queue);
  return has && bodyFits(story.body, body);
}

function bodyFits(body: unknown, asked: MessageMatch["body"]): boolean {
  if (asked === undefined) return true;
  if (typeof asked === "function") return (asked as (body: unknown) => boolean)(body);
  if (typeof asked !== "object" || asked === null) return isDeepStrictEqual(body, asked);
  return Object.entries(asked).every(
    ([name, value]) =>
      typeof body === "object" && body !== null && isDeepStrictEqual(Reflect.get(body, name), value),
  );
}

/** The error of a wait that has come to nothing: with what happened instead. */
export function nothingFits(
  { queue, body, state }: MessageMatch,
  stories: readonly Story[],
  nextMs: number | null,
) {
  const told = stories.slice(0, TOLD_MAX).map(({ queue: first, body: its, events, state: now }) => {
    const path = events.map(({ what, error }) =>
      error === undefined ? what : `${what} (${error.split("\n", 1)[0]})`,
    );
    return `  ${first} ${JSON.stringify(its)}: ${path.join(", ") || now}`;
  });
  const more = stories.length > TOLD_MAX ? [`  … and ${stories.length - TOLD_MAX} more`] : [];
  const asked =
    typeof body === "function" ? " that fits" : body === undefined ? "" : ` ${JSON.stringify(body)}`;
  const next =
    nextMs === null ? "nothing is due" : `the next thing is due at ${new Date(nextMs).toISOString()}`;
  return new Error(
    [
      `No message${asked}${queue === undefined ? "" : ` of queue "${queue}"`} is ${state}; ${next}.`,
      ...(told.length === 0 ? ["  There is no message at all."] : told),
      ...more,
    ].join("\n"),
  );
}
