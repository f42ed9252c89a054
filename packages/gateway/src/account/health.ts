import type { AccountDirectory } from "./queue-directory.ts";

/**
 * How long an answer of the directory counts, in ms: any client may ask for the health, and the directory must not be
 * kept busy by that.
 */
export const HEALTH_MS_MAX = 1_000;

/** Answer of `GET /__sluice/health`. */
export type Health =
  | { readonly status: "ok"; readonly queues: number }
  | { readonly status: "failing"; readonly error: string };

/**
 * Makes a function that tells whether the directory answers. It asks the directory once in `HEALTH_MS_MAX` at most,
 * except for requests before the first answer.
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
    // An answer of the future is one from before the clock was set back.
    if (known !== undefined && Math.abs(atMs - known.atMs) < HEALTH_MS_MAX) return known.health;
    // Requests meanwhile get the previous answer: on Workers a request cannot wait for the work of another one.
    if (known !== undefined) known = { ...known, atMs };
    const health = await ask();
    known = { health, atMs };
    return health;
  };
}

/**
 * Answers `GET /_localstack/health` in LocalStack's words: containers of Testcontainers wait for its status, scripts for
 * a service by its text, so the spaces count. A service that nobody has used yet is `available` there.
 */
export function localstackHealth({ status }: Health): string {
  const service = status === "ok" ? "available" : "error";
  return `{"services": {"sns": "${service}", "sqs": "${service}"}}`;
}
