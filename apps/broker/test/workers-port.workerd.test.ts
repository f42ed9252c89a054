import type { EndpointOutcome, EndpointRequest } from "@sluice/broker";
import { bundle } from "@sluice/protocol/test/workerd-process";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { endpointPortSuite } from "./endpoint-port-suite.ts";

/** Makes the calls that it is told of. */
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

endpointPortSuite("an endpoint, from Workers,", async () => {
  const worker = {
    name: "caller",
    compatibilityDate: "2026-11-01",
    modules: [{ type: "ESModule", path: "caller.js", contents: await bundle(SOURCE, import.meta.dirname) }],
  };
  const mf = new Miniflare(
    convertV4MiniflareOptions({ workers: [worker] } as Parameters<typeof convertV4MiniflareOptions>[0]),
  );
  const { origin } = await mf.ready;
  const call = async (what: object) =>
    (await fetch(origin, { method: "POST", body: JSON.stringify(what) })).json();
  return {
    port: {
      post: ({ body, ...request }: EndpointRequest) =>
        call({
          post: { ...request, body: Buffer.from(body).toString("base64") },
        }) as Promise<EndpointOutcome>,
      isReady: (...isReady) => call({ isReady }) as Promise<boolean>,
    },
    stop: () => mf.dispose(),
  };
});
