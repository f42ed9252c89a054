import { createHash } from "node:crypto";

const START = "sluice deploy ";
/** Stands before what `tokensMark` says. */
const TOKENS = " tokens ";
/** Mark of tokens that somebody chose: nothing that is made of those may be published. */
const CHOSEN = "chosen";

/**
 * Text of `--message` of each version that a deployment uploads.
 *
 * @param tokens mark of the tokens that the version sets; `null` for a version that sets none.
 */
export function deploymentMessage(run: string, tokens: string | null = null): string {
  return `${START}${run}${tokens === null ? "" : TOKENS + tokens}`;
}

/** The deployment that a version is of; `null` for one that something else has uploaded. */
export function deploymentOf(message: string | null): string | null {
  return message?.startsWith(START) === true ? (message.slice(START.length).split(TOKENS)[0] ?? null) : null;
}

/** Mark of the tokens that a version sets; `null` for one that sets none, or is not known to. */
export function tokensOf(message: string | null): string | null {
  return message?.startsWith(START) === true ? (message.split(TOKENS)[1] ?? null) : null;
}

/** Mark of a token that `sluice deploy` has made. It tells nothing of one that nobody can guess. */
export function tokenMark(token: string): string {
  return createHash("sha256").update(token).digest("hex").slice(0, 12);
}

/**
 * Mark of what a version sets as the broker's tokens; `null` for nothing.
 *
 * @param isChosen whether somebody chose them, and `sluice deploy` has not made them.
 */
export function tokensMark(tokens: string | undefined, isChosen: boolean): string | null {
  if (tokens === undefined) return null;
  return isChosen ? CHOSEN : tokenMark(tokens);
}
