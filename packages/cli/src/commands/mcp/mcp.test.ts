import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { forwardMcp } from "./mcp.ts";

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));

it("a request that the agent cancels is given up, so that the end of standard input ends the command", async () => {
  const asked: { body: string; response: ServerResponse }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      asked.push({ body, response });
      if (body.includes("notifications/")) response.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const input = new PassThrough();
  const printed: string[] = [];
  const printer = {
    print: (text: string) => printed.push(text),
    warn: () => {},
    paint: (_: unknown, text: string) => text,
  };
  const ended = forwardMcp(
    { url },
    { ...printer, columns: 80 } as never,
    { input, env: {}, cwd: "/" } as never,
  );
  input.write('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait_for"}}\n');
  await expect.poll(() => asked.length).toBe(1);
  const closed = once(asked[0]?.response as ServerResponse, "close");
  input.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}\n');
  input.end();
  expect(await ended).toBe(0);
  await closed;
  // The broker hears of it too.
  expect(asked.map(({ body }) => JSON.parse(body).method)).toEqual(["tools/call", "notifications/cancelled"]);
  expect(printed).toEqual([]);
});

it("ends quietly when nobody reads what it prints", async () => {
  const child = spawn(process.execPath, [MAIN, "mcp", "--url", "http://127.0.0.1:9"], { stdio: "pipe" });
  onTestFinished(() => void child.kill());
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  child.stdout.destroy();
  const exited = once(child, "exit");
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  expect(await exited).toEqual([0, null]);
  expect(said).toBe("");
});
