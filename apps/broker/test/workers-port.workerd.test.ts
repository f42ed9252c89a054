import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { EndpointOutcome, EndpointRequest } from "@sluice/broker";
import { bundle } from "@sluice/protocol/test/workerd-process";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { expect, it } from "vitest";
import { endpointPortSuite } from "./endpoint-port-suite.ts";

/** Makes the calls that requests ask for. */
const SOURCE = `
import { workersPort } from "@sluice/broker/workers-port";
export default {
  async fetch(request) {
    const { post, isReady } = await request.json();
    if (isReady) return Response.json(await workersPort.isReady(...isReady));
    return Response.json(await workersPort.post({ ...post, body: Uint8Array.fromBase64(post.body) }));
  },
};
`;

/** Networks that `sluice serve` gives its broker. */
const NETWORKS = {
  SLUICE_PUBLIC_HOSTS: { network: { allow: ["public"] } },
  SLUICE_LISTED_HOSTS: { network: { allow: ["public", "private"] } },
};

/** Starts a Worker that makes calls. */
async function startCaller(more: object = {}) {
  const worker = {
    name: "caller",
    compatibilityDate: "2026-11-01",
    modules: [{ type: "ESModule", path: "caller.js", contents: await bundle(SOURCE, import.meta.dirname) }],
    ...more,
  };
  const mf = new Miniflare(
    convertV4MiniflareOptions({ workers: [worker] } as Parameters<typeof convertV4MiniflareOptions>[0]),
  );
  const { origin } = await mf.ready;
  const call = async (what: object) =>
    (await fetch(origin, { method: "POST", body: JSON.stringify(what) })).json();
  return { call, stop: () => mf.dispose() };
}

it("a private address is reached by sluice serve if its host is listed, or if the broker is open", async () => {
  const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const isReady = [`http://${host}/`, null, 5_000];
  const answers = [];
  const local = { SLUICE_ENV: "local" };
  const keys = { SLUICE_AWS_ACCESS_KEYS: "AKIA:secret" };
  for (const bindings of [{}, { ...local, ...keys }, { SLUICE_PUSH_HOSTS: host }, local]) {
    const { call, stop } = await startCaller({ bindings, serviceBindings: NETWORKS });
    answers.push(await call({ isReady }));
    await stop();
  }
  server.close();
  expect(answers).toEqual([false, false, true, true]);
});

endpointPortSuite("an endpoint, from Workers,", async () => {
  const { call, stop } = await startCaller();
  return {
    port: {
      post: ({ body, ...request }: EndpointRequest) =>
        call({
          post: { ...request, body: Buffer.from(body).toString("base64") },
        }) as Promise<EndpointOutcome>,
      isReady: (...isReady) => call({ isReady }) as Promise<boolean>,
    },
    stop,
  };
});
