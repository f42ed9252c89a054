import { mkdtemp, rm } from "node:fs/promises";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ANSWER_MS_MAX, Hang, type Target } from "./target.ts";

const ORIGIN = "http://localhost:8787";
/** Time without an answer after which the clock moves, in ms. */
const PATIENCE_MS = 20;
/** Time by which the clock moves, in ms. */
const STEP_MS = 1_000;

/** A target in this process. */
export interface LocalTarget extends Target {
  /** Every route. Paths can have parameters: `/__sluice/api/queues/:name`. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** Ends the broker and starts another on its files. */
  reopen(): void;
  /** Ends the broker and deletes its files. */
  close(): Promise<void>;
}

/**
 * Opens the broker of `sluice serve` without Workers, in this process and on files of its own. Its clock moves while a
 * request waits for an answer, so a long poll takes no time.
 *
 * @param vars further variables of the broker.
 */
export async function localTarget(vars: Readonly<Record<string, string>> = {}): Promise<LocalTarget> {
  const workers = import.meta.resolve("@sluice/objects/workers");
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === "cloudflare:workers" ? workers : specifier, context),
  });
  const { openBroker } = await import("@sluice/broker-worker/open-broker");
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-fuzz-"));
  const open = () =>
    openBroker({
      folder,
      worker: "sluice",
      topology: { queues: {} },
      vars: { SLUICE_ENV: "development", ...vars },
    });
  let broker = open();
  const moveClock = () =>
    broker.gateway.fetch(
      new Request(`${ORIGIN}/__sluice/api/clock`, {
        method: "POST",
        body: JSON.stringify({ advanceMs: STEP_MS }),
      }),
    );
  return {
    endpoint: `${ORIGIN}/__sluice/aws`,
    routes: broker.gateway.routes,
    async fetch(request) {
      const answered = Promise.resolve(broker.gateway.fetch(request));
      for (let waitedMs = 0; waitedMs <= ANSWER_MS_MAX; waitedMs += STEP_MS) {
        const answer = await Promise.race([answered, sleep(PATIENCE_MS, null)]);
        if (answer !== null) return answer;
        await moveClock();
      }
      throw new Hang(`no answer within ${ANSWER_MS_MAX} ms`);
    },
    reopen() {
      broker.close();
      broker = open();
    },
    async close() {
      broker.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
