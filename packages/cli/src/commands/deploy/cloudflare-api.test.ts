import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CliError } from "@sluice/project/errors";
import { afterEach, describe, expect, it } from "vitest";
import { PassingFailure } from "../patience.ts";
import { CloudflareApi } from "./cloudflare-api.ts";

const ACCOUNT = "0123456789abcdef0123456789abcdef";
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function apiOf(answer: RequestListener, patienceMs?: number): Promise<CloudflareApi> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return new CloudflareApi({
    headers: {},
    source: "a test",
    named: { id: ACCOUNT, place: "a test" },
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    wait: async () => undefined,
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
}

const answers = (body: unknown) => apiOf((_, response) => response.end(JSON.stringify(body)));

describe("an answer of another form than Cloudflare's", () => {
  const calls = [
    ["deployments", (api: CloudflareApi) => api.deployed("web")],
    ["versions?deployable=true", (api: CloudflareApi) => api.versions("web")],
    ["versions/a", (api: CloudflareApi) => api.version("web", "a")],
    ["subdomain", (api: CloudflareApi) => api.address("web")],
    ["references", (api: CloudflareApi) => api.boundTo("web")],
  ] as const;
  const results = [null, "text", { deployments: null }, { items: null }, { services: { incoming: 1 } }];

  it.each(calls)("is an error that names the request: %s", async (path, call) => {
    for (const result of results) {
      const outcome = await call(await answers({ success: true, result })).catch((error: unknown) => error);
      if (!(outcome instanceof Error)) continue;
      expect(outcome).toEqual(
        new CliError(
          `Cloudflare answers GET /accounts/${ACCOUNT}/workers/scripts/web/${path} in a form that Sluice does not ` +
            "know. Run the same command again, or with the latest Sluice.",
        ),
      );
    }
  });

  it("is not taken for a Worker that is not there", async () => {
    await expect((await answers({ success: true, result: null })).deployed("web")).rejects.toThrow(
      "in a form that Sluice does not know",
    );
    const absent = await answers({ success: false, errors: [{ code: 10_007, message: "absent" }] });
    expect(await absent.deployed("web")).toBe(null);
  });
});

describe("an answer of Cloudflare's that does not come", () => {
  it.each([
    ["at all", () => {}],
    ["to its end", (_request, response) => response.write('{"success":')],
  ] as [string, RequestListener][])("%s is an error that names the request", async (_, answer) => {
    const api = await apiOf(answer, 100);
    await expect(api.deployed("web")).rejects.toThrow(
      new PassingFailure(
        `Cloudflare does not answer GET /accounts/${ACCOUNT}/workers/scripts/web/deployments: nothing within 0.1 s.`,
      ),
    );
  });

  it("because the connection ends is an error that names the request", async () => {
    const api = await apiOf((request) => request.socket.destroy());
    await expect(api.deployed("web")).rejects.toThrow(
      /^Cloudflare does not answer GET \/accounts\/.*\/deployments: /,
    );
  });
});

describe("a failure of Cloudflare's that may pass", () => {
  const FINE = { success: true, result: { deployments: [] } };

  /** Answers the first requests by a failure, and then as Cloudflare does. */
  async function failing(times: number, fail: (response: ServerResponse) => void) {
    let requests = 0;
    const api = await apiOf((_, response) => {
      requests++;
      if (requests > times) response.end(JSON.stringify(FINE));
      else fail(response);
    });
    return { api, requests: () => requests };
  }

  it.each([
    ["status 429", (response) => response.writeHead(429).end("{}")],
    ["status 502, which a proxy says in HTML", (response) => response.writeHead(502).end("<html>")],
    ["a connection that ends", (response) => response.destroy()],
  ] as [string, (response: ServerResponse) => void][])("is tried again, three times: %s", async (_, fail) => {
    expect(await (await failing(3, fail)).api.deployed("web")).toEqual([]);
    const { api, requests } = await failing(4, fail);
    await expect(api.deployed("web")).rejects.toThrow(/^Cloudflare (?:refuses|does not answer) GET/);
    expect(requests()).toBe(4);
  });

  it("is none that Cloudflare decides by the request", async () => {
    const { api, requests } = await failing(1, (response) => response.writeHead(403).end("{}"));
    await expect(api.deployed("web")).rejects.toThrow("Cloudflare refuses GET");
    expect(requests()).toBe(1);
  });
});
