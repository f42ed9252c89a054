import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { serve } from "@hono/node-server";
import type { OpenBrokerInput } from "@sluice/broker-worker/open-broker";
import { onTestFinished } from "vitest";
import { type BrokerWorkerOptions, startBrokerWorker } from "./broker-worker.ts";

/** A broker, as its clients see it. */
interface AnyBroker {
  readonly origin: string;
}

interface AnyBrokerOptions extends BrokerWorkerOptions {
  /** Queues of the broker's topology. Default: none, clients create them. */
  readonly queues?: Readonly<Record<string, object>>;
  /** Names of bindings to consumers, by Worker, which only workerd has. */
  readonly consumers?: Readonly<Record<string, string>>;
}

/**
 * Starts a broker on the platform of the current test project (`vitest.config.ts`): the broker Worker in workerd, or
 * the same classes in this process.
 */
export function startBroker(
  vars: Record<string, string>,
  options: AnyBrokerOptions = {},
): Promise<AnyBroker> {
  return process.env.SLUICE_TEST_PLATFORM === "node" ? startHere(vars, options) : startWorker(vars, options);
}

/** Starts a broker for several tests. The caller ends it with `dispose`. */
export async function startSharedBroker(vars: Record<string, string>, options: AnyBrokerOptions = {}) {
  const end = Promise.withResolvers<() => Promise<void>>();
  const { origin } = await startBroker(vars, { ...options, disposeWith: end.resolve });
  return { origin, dispose: await end.promise };
}

/** Options of AWS's clients for a broker that takes any key. */
export function awsOptions(endpoint: string, region = "us-east-1") {
  const credentials = { accessKeyId: "anybody", secretAccessKey: "any secret" };
  return { endpoint, region, credentials, maxAttempts: 1 };
}

async function startWorker(vars: Record<string, string>, options: AnyBrokerOptions): Promise<AnyBroker> {
  const { queues = {}, consumers = {}, ...others } = options;
  const entry = `
    import { defineBroker } from "@sluice/broker-worker";
    ${options.page === undefined ? "const page = undefined" : 'import page from "./page.bin"'};
    const options = ${JSON.stringify({ topology: { queues }, consumers })};
    const { QueueBroker, Directory, handler } = defineBroker({ ...options, page });
    export { Directory, QueueBroker };
    export default handler;
  `;
  const worker = await startBrokerWorker(entry, vars, others);
  return { origin: (await worker.ready).origin };
}

async function startHere(vars: Record<string, string>, options: AnyBrokerOptions): Promise<AnyBroker> {
  // Imported here because tests on workerd do not need it.
  const { openBroker } = await import("@sluice/broker-worker/open-broker");
  const { persistDir, queues = {}, disposeWith = onTestFinished, page } = options;
  const folder = persistDir ?? (await mkdtemp(path.join(tmpdir(), "sluice-broker-")));
  const topology = { queues } as OpenBrokerInput["topology"];
  const broker = openBroker({ folder, worker: "broker", topology, vars, ...(page && { page }) });
  const fetch = (request: Request) => broker.gateway.fetch(request);
  const server = await new Promise<Server>((resolve) => {
    const listening = serve({ fetch, port: 0, hostname: "127.0.0.1", overrideGlobalObjects: false }, () =>
      resolve(listening as Server),
    );
  });
  // A client without retries fails if the server closes an idle connection just as the client uses it again.
  server.keepAliveTimeout = 0;
  disposeWith(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    broker.close();
    if (persistDir === undefined) await rm(folder, { recursive: true });
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
