import { createHash } from "node:crypto";
import type { Version } from "./cloudflare-api.ts";
import { tokensIn } from "./messages.ts";

/*
 * Nobody can read the tokens of a broker. So each version that sets some says in its message which ones, by a mark.
 */

/** Mark of tokens that somebody chose: nothing that is made of those may be published. */
export const CHOSEN = "chosen";

/** Mark of a token that `sluice deploy` has made. It tells nothing of one that nobody can guess. */
export function tokenMark(token: string): string {
  return createHash("sha256").update(token).digest("hex").slice(0, 12);
}

/** Mark of the tokens that were set last; `null` where none of the versions has set any. */
export function lastMark(versions: readonly Version[]): string | null {
  const marks = versions
    .toSorted((a, b) => a.createdOn.localeCompare(b.createdOn))
    .flatMap(({ message }) => tokensIn(message) ?? []);
  return marks.at(-1) ?? null;
}
