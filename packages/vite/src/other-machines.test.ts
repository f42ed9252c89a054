import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { askOtherMachines, watchOtherMachines } from "./other-machines.ts";

async function listen(server: Server, host: string): Promise<Server> {
  onTestFinished(() => void server.close());
  server.listen(0, host);
  await once(server, "listening");
  return server;
}

it("the broker is told of what other machines reach, for as long as they do, and it is shown once", async () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  onTestFinished(() => log.mockRestore());
  watchOtherMachines();
  const vars = { SLUICE_ACCESS_URL: "" };
  askOtherMachines(vars, null, "");
  expect(() => vars.SLUICE_ACCESS_URL).toThrow("before it may have any");
  const handler = () => {};
  await listen(createHttpServer(handler), "127.0.0.1");
  const told = async () => (await fetch(vars.SLUICE_ACCESS_URL)).json();
  expect(await told()).toEqual({});

  // So Vite and others look whether a port is free.
  await listen(createServer(), "0.0.0.0");
  expect(await told()).toEqual({});
  expect(log).not.toHaveBeenCalled();

  const reached = await listen(createHttpServer(handler), "0.0.0.0");
  const { SLUICE_API_TOKENS: token, ...others } = (await told()) as Record<string, string>;
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(others).toEqual({ SLUICE_AWS_ACCESS_KEYS: `SLUICE:${token}` });
  const second = await listen(createHttpServer(handler), "0.0.0.0");
  expect(log).toHaveBeenCalledTimes(1);
  expect(log.mock.calls.flat().join()).toContain(`/__sluice/#token=${token}`);

  for (const server of [reached, second]) {
    server.close();
    await once(server, "close");
  }
  expect(await told()).toEqual({});
  expect((await fetch(new URL("/", vars.SLUICE_ACCESS_URL))).status).toBe(404);
});
