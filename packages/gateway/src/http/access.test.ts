import { describe, expect, it } from "vitest";
import { directoryOf } from "../../test/directory.ts";
import { createGateway } from "../index.ts";
import type { Access } from "./access.ts";

const open: Access = { kind: "open", hosts: ["queues.example.com"], routeHosts: [] };
const tokens: Access = { kind: "tokens", tokens: ["first", "second"] };
const closed: Access = { kind: "closed", reason: "Set SLUICE_API_TOKENS." };
const API = "/__sluice/api/queues";
const CLOUDFLARE = "/__sluice/client/v4/accounts/any/queues";

function get(access: Access, url: string, headers: Record<string, string> = {}) {
  return createGateway(directoryOf(), access).request(url, { headers });
}

describe("an open broker", () => {
  it.each([
    "localhost:8787",
    "127.0.0.1:8787",
    "192.168.1.5",
    "[::1]:8787",
    "sluice:8787",
    "shop.localhost",
    "laptop.local",
    "host.docker.internal:8787",
    "queues.example.com",
  ])("answers under %s, which no public name server answers for, or which is listed", async (host) => {
    expect((await get(open, `http://${host}${API}`)).status).toBe(200);
    expect((await get(open, `http://${host}${CLOUDFLARE}`)).status).toBe(200);
  });

  it.each([
    "evil.example",
    "127.0.0.1.evil.example:8787",
    "localhost.evil.example",
    "1.example",
    "xlocalhost.com",
  ])("does not answer under %s: a page of that site would read it as its own", async (host) => {
    const refused = await get(open, `http://${host}${API}`);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toEqual({
      error: { code: "host_not_allowed", message: expect.stringContaining("SLUICE_ALLOWED_HOSTS") },
    });
    const api = await get(open, `http://${host}${CLOUDFLARE}`);
    expect(api.status).toBe(403);
    expect(await api.json()).toMatchObject({ success: false, errors: [{ code: 10000 }], result: null });
  });
});

describe("an open broker behind a proxy that replaces the host by that of a route", () => {
  const proxied: Access = { kind: "open", hosts: [], routeHosts: ["shop.example.com"] };
  const url = `http://shop.example.com${API}`;

  it("goes by the name that was asked for", async () => {
    const from = (host: string) => get(proxied, url, { "mf-original-hostname": host });
    expect((await from("localhost:8787")).status).toBe(200);
    expect((await from("evil.example:8787")).status).toBe(403);
  });

  it("does not believe that of a request whose host was not replaced", async () => {
    const forged = { "mf-original-hostname": "localhost:8787" };
    expect((await get(open, url, forged)).status).toBe(403);
    expect((await get(proxied, `http://evil.example${API}`, forged)).status).toBe(403);
  });

  it("lets its own page change something, and no other", async () => {
    const move = (origin: string) =>
      createGateway(directoryOf(), proxied).request("http://shop.example.com/__sluice/api/clock", {
        method: "POST",
        body: '{"advanceMs": 1}',
        headers: { "mf-original-hostname": "localhost:8787", origin },
      });
    expect((await move("http://localhost:8787")).status).toBe(200);
    expect((await move("http://shop.example.com")).status).toBe(403);
  });
});

it("a page of another origin cannot use Cloudflare's API: a browser would send its POST", async () => {
  const post = (origin: string) =>
    createGateway(directoryOf(), open).request(`http://localhost:8787${CLOUDFLARE}`, {
      method: "POST",
      body: '{"queue_name": "Bad"}',
      headers: { origin, "content-type": "text/plain" },
    });
  const refused = await post("https://evil.example");
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ errors: [{ code: 10000 }] });
  expect((await post("http://localhost:8787")).status).toBe(400);
});

describe("a broker with tokens", () => {
  it("answers those who bring one, under whatever name", async () => {
    const url = `https://queues.example.org${API}`;
    for (const token of ["first", "second"]) {
      expect((await get(tokens, url, { authorization: `Bearer ${token}` })).status).toBe(200);
      const cloudflare = `https://queues.example.org${CLOUDFLARE}`;
      expect((await get(tokens, cloudflare, { authorization: `bearer  ${token}` })).status).toBe(200);
      expect((await get(tokens, cloudflare, { "x-auth-key": token })).status).toBe(200);
    }
  });

  it.each([
    [undefined, 401],
    ["Bearer ", 401],
    ["Basic first", 401],
    ["Bearer firs", 403],
    ["Bearer firstt", 403],
    ["Bearer first,second", 403],
    ["Bearer First", 403],
  ])("answers %s with %i", async (authorization, status) => {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await get(tokens, `http://localhost${CLOUDFLARE}`, headers as Record<string, string>);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      success: false,
      errors: [{ code: 10000, message: "Authentication error" }],
      messages: [],
      result: null,
    });
    expect((await get(tokens, `http://localhost${API}`, headers as Record<string, string>)).status).toBe(401);
  });
});

it("a closed broker says why to every client, and shows that it runs", async () => {
  const authorization = "Bearer first";
  expect(await (await get(closed, `http://localhost${API}`, { authorization })).json()).toEqual({
    error: { code: "no_tokens", message: "Set SLUICE_API_TOKENS." },
  });
  const response = await get(closed, `http://localhost${CLOUDFLARE}`, { authorization });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({
    errors: [{ code: 10000, message: "Set SLUICE_API_TOKENS." }],
  });
  expect((await get(closed, "http://localhost/__sluice/health")).status).toBe(200);
});
