import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createQueueRuntime, type QueueRuntime } from "../src/index.ts";

/** A provider of mails for its customers, which sends mails with the same key once. */
export class Provider {
  /** Ids of the sent mails. */
  readonly sent: string[] = [];
  readonly #keys = new Set<string>();
  #refusals = 0;

  take(id: string, key: string | null): Response {
    if (this.#refusals > 0) {
      this.#refusals -= 1;
      return new Response(null, { status: 503 });
    }
    if (key !== null && this.#keys.has(key)) return new Response(null, { status: 200 });
    if (key !== null) this.#keys.add(key);
    this.sent.push(id);
    return new Response(null, { status: 202 });
  }

  /** Begins anew, with a number of requests that are refused first. */
  reset(refusals: number): void {
    this.sent.length = 0;
    this.#keys.clear();
    this.#refusals = refusals;
  }
}

export interface MailEnv {
  readonly SENT: { get(id: string): Promise<string | null> };
  readonly LEDGER: { prepare(sql: string): { all(): Promise<{ results: { id: string }[] }> } };
  readonly LIMIT: { getByName(name: string): { taken(): Promise<string[]> } };
}

export interface MailProject extends AsyncDisposable {
  readonly queues: QueueRuntime<MailEnv>;
  readonly provider: Provider;
}

/** Starts the mail project of the fixtures with the test as its provider. */
export async function startMailProject(): Promise<MailProject> {
  const provider = new Provider();
  const folder = mkdtempSync(join(tmpdir(), "sluice-mail-"));
  cpSync(fileURLToPath(new URL("fixtures/mail", import.meta.url)), folder, { recursive: true });
  const queues = await createQueueRuntime<MailEnv>({
    workers: [folder],
    vars: { PROVIDER_URL: "https://mails.example" },
    outbound: async (request) => {
      const { id } = (await request.json()) as { id: string };
      return provider.take(id, request.headers.get("idempotency-key"));
    },
    log: () => {},
  });
  return {
    queues,
    provider,
    [Symbol.asyncDispose]: async () => {
      await queues[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}
