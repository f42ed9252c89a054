import { createHash } from "node:crypto";
import type { Version } from "./cloudflare-api.ts";
import { tokensIn } from "./messages.ts";

/*
 * Marks of a broker's tokens. Cloudflare does not show a secret's value, so each version that sets tokens names them in
 * its message by a mark. A contract: other releases read the marks.
 */

/** Mark of tokens that the user chose. Nothing derived from those may be published. */
export const CHOSEN = "chosen";

/** Makes the mark of a token that `sluice deploy` has made: a hash, which reveals nothing of a random token. */
export function tokenMark(token: string): string {
  return createHash("sha256").update(token).digest("hex").slice(0, 12);
}

/** Returns the mark of the tokens that were set last; `null` where no version has set any. */
export function lastMark(versions: readonly Version[]): string | null {
  const marks = versions
    .toSorted((a, b) => a.createdOn.localeCompare(b.createdOn))
    .flatMap(({ message }) => tokensIn(message) ?? []);
  return marks.at(-1) ?? null;
}
