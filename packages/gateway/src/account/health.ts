import type { AccountDirectory } from "./queue-directory.ts";

/**
 * How long what the directory said counts, in ms: anybody may ask for the health, and the directory has other things to
 * do.
 */
export const HEALTH_MS_MAX = 1_000;

/** Answer of `GET /__sluice/health`. */
export type Health =
  | { readonly status: "ok"; readonly queues: number }
  | { readonly status: "failing"; readonly error: string };

/**
 * Returns what tells whether the directory answers. It asks it once in `HEALTH_MS_MAX` at most, but for requests that
 * come before the first answer.
 */
export function healthOf(account: Pick<AccountDirectory, "list">, now: () => number): () => Promise<Health> {
  let known: { readonly health: Health; readonly atMs: number } | undefined;
  const ask = async (): Promise<Health> => {
    try {
      return { status: "ok", queues: (await account.list()).length };
    } catch (error) {
      return { status: "failing", error: `the directory does not answer: ${error}` };
    }
  };
  return async () => {
    const atMs = now();
    if (known !== undefined && atMs - known.atMs < HEALTH_MS_MAX) return known.health;
    // The others are told what was known before: on Workers nobody can wait for what another request does.
    if (known !== undefined) known = { ...known, atMs };
    const health = await ask();
    known = { health, atMs };
    return health;
  };
}
