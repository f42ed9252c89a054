import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createQueueRuntime, type QueueRuntime } from "../src/index.ts";

/** A provider of mails, as its customers see it: it sends what has a key once. */
export class Provider {
  /** Ids of what was sent. */
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

  /** Begins anew. @param refusals requests that it refuses before it takes one. */
  reset(refusals: number): void {
    this.sent.length = 0;
    this.#keys.clear();
    this.#refusals = refusals;
  }
}

export interface MailEnv {
  readonly SENT: { get(id: string): Promise<string | null> };
  readonly LEDGER: {
    prepare(sql: string): { all(): Promise<{ results: { id: string }[] }> };
  };
  readonly LIMIT: { getByName(name: string): { taken(): Promise<string[]> } };
}

export interface MailProject extends AsyncDisposable {
  readonly queues: QueueRuntime<MailEnv>;
  readonly provider: Provider;
}

/** The mail project of the fixtures, whose provider answers on a free port of this machine. */
export async function startMailProject(): Promise<MailProject> {
  const provider = new Provider();
  const server = createServer(async (request, response) => {
    const { id } = JSON.parse(await text(request)) as { id: string };
    const key = request.headers["idempotency-key"];
    const { status } = provider.take(id, typeof key === "string" ? key : null);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), "sluice-mail-"));
  cpSync(fileURLToPath(new URL("fixtures/mail", import.meta.url)), folder, { recursive: true });
  writeFileSync(join(folder, ".dev.vars"), `PROVIDER_URL=http://127.0.0.1:${port}\n`);
  const queues = await createQueueRuntime<MailEnv>({ workers: [folder], log: () => {} });
  return {
    queues,
    provider,
    [Symbol.asyncDispose]: async () => {
      await queues[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}
