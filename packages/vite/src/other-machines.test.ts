import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { OtherMachines } from "./other-machines.ts";

async function listen(server: Server, host: string): Promise<Server> {
  onTestFinished(() => void server.close());
  server.listen(0, host);
  await once(server, "listening");
  return server;
}

it("the broker gets variables while other machines reach a server, which is printed once", async () => {
  const shown: string[] = [];
  const machines = new OtherMachines((text) => shown.push(text));
  expect(() => machines.url).toThrow("too early");
  const handler = () => {};
  await listen(createHttpServer(handler), "127.0.0.1");
  const told = async () => (await fetch(machines.url)).json();
  expect(await told()).toEqual({});

  // Vite and others find free ports this way.
  await listen(createServer(), "0.0.0.0");
  expect(await told()).toEqual({});
  expect(shown).toEqual([]);

  const reached = await listen(createHttpServer(handler), "0.0.0.0");
  const { SLUICE_API_TOKENS: token, ...others } = (await told()) as Record<string, string>;
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(others).toEqual({ SLUICE_AWS_ACCESS_KEYS: `SLUICE:${token}` });
  const second = await listen(createHttpServer(handler), "0.0.0.0");
  expect(shown).toEqual([expect.stringContaining(`/__sluice/#token=${token}`)]);

  for (const server of [reached, second]) {
    server.close();
    await once(server, "close");
  }
  expect(await told()).toEqual({});
  expect((await fetch(new URL("/", machines.url))).status).toBe(404);
});
