import { isDeepStrictEqual } from "node:util";
import type { MessageMatch, Story } from "../api.ts";

/** Most stories in an error. */
const STORIES_MAX = 10;

/** Whether a message has the state and body of a match, or has had that state. */
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

/** Makes the error of a wait without a match, which lists what happened instead. */
export function nothingFits(
  { queue, body, state }: MessageMatch,
  stories: readonly Story[],
  nextMs: number | null,
) {
  const listed = stories.slice(0, STORIES_MAX).map(({ queue: first, body: its, events, state: now }) => {
    const path = events.map(({ what, error }) =>
      error === undefined ? what : `${what} (${error.split("\n", 1)[0]})`,
    );
    return `  ${first} ${JSON.stringify(its)}: ${path.join(", ") || now}`;
  });
  const more = stories.length > STORIES_MAX ? [`  … and ${stories.length - STORIES_MAX} more`] : [];
  const asked =
    typeof body === "function" ? " that fits" : body === undefined ? "" : ` ${JSON.stringify(body)}`;
  const next =
    nextMs === null ? "nothing is due" : `the next thing is due at ${new Date(nextMs).toISOString()}`;
  return new Error(
    [
      `No message${asked}${queue === undefined ? "" : ` of queue "${queue}"`} is ${state}; ${next}.`,
      ...(listed.length === 0 ? ["  There is no message at all."] : listed),
      ...more,
    ].join("\n"),
  );
}
