import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { EXPLORER_PATHS, forge } from "sluice/test/forged-request";
import { machineAddress } from "sluice/test/machine-address";
import { describe, expect, it, onTestFinished } from "vitest";
import { isLocalPath, keepLocalPaths } from "./local-paths.ts";

const address = machineAddress();

/** A server with paths for this machine only, and the requests that its listeners get. */
async function listen() {
  const heard: (string | undefined)[] = [];
  const server = createServer();
  keepLocalPaths(server);
  const answer: RequestListener = (request, response) => {
    heard.push(request.url);
    response.end("answered");
  };
  // These listeners come after the guard, with their events.
  server.on("request", answer);
  server.on("checkContinue", answer);
  server.on("checkExpectation", answer);
  server.on("upgrade", (request, socket) => {
    heard.push(request.url);
    socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
  });
  server.listen(0, "::");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { heard, port: (server.address() as AddressInfo).port };
}

const UPGRADE = { connection: "Upgrade", upgrade: "x" };

describe.skipIf(address === null)("keepLocalPaths", () => {
  it("refuses each spelling of a path to other machines before a listener gets it", async () => {
    const { heard, port } = await listen();
    const ask = (path: string, headers = {}) => forge({ address: address ?? "", port, path, headers });
    for (const path of EXPLORER_PATHS) {
      expect((await ask(path)).status).toBe(403);
      expect((await ask(path, UPGRADE)).status).toBe(403);
      expect((await ask(path, { expect: "100-continue" })).status).toBe(403);
      expect((await ask(path, { expect: "x" })).status).toBe(403);
    }
    expect(heard).toEqual([]);
  });

  it("passes on other requests of other machines, and all of this machine", async () => {
    const { heard, port } = await listen();
    expect(await forge({ address: address ?? "", port, path: "/src/a.ts?from=/cdn-cgi/x" })).toEqual({
      status: 200,
      text: "answered",
    });
    expect((await forge({ address: address ?? "", port, path: "/socket", headers: UPGRADE })).status).toBe(0);
    const [path = ""] = EXPLORER_PATHS;
    for (const own of ["127.0.0.1", "::1"]) {
      expect((await forge({ address: own, port, path })).text).toBe("answered");
    }
    expect(heard).toEqual(["/src/a.ts?from=/cdn-cgi/x", "/socket", path, path]);
  });
});

describe("isLocalPath", () => {
  it.each(EXPLORER_PATHS)("finds a local path in %s", (path) => expect(isLocalPath(path)).toBe(true));

  it("finds a local path in one that is encoded too often", () => {
    expect(isLocalPath(`/%${"25".repeat(8_000)}63dn-cgi/local`)).toBe(true);
  });

  it.each([
    "/",
    "/__sluice/api/queues",
    "/@fs/a%20b.ts",
    "/%",
    "/%zz",
    "*",
    "",
    "/cdn/cgi",
    "/x?to=/cdn-cgi/y",
  ])("finds no local path in %j", (path) => expect(isLocalPath(path)).toBe(false));
});
