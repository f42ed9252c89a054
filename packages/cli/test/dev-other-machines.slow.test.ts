import { appendFileSync, globSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EXPLORER_PATHS, type ForgedRequest, forge } from "./forged-request.ts";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { machineAddress, NO_ADDRESS } from "./machine-address.ts";
import { type Running, sluice } from "./running.ts";

const address = machineAddress();
if (address === null) console.warn(NO_ADDRESS);

const QUERY = { durable_object_name: "directory", queries: [{ sql: "select * from tokens" }] };

describe.skipIf(address === null)("a sluice dev that other machines reach", { timeout: 180_000 }, () => {
  let lab: Lab;
  let running: Running[];
  beforeEach(() => {
    lab = openLab("staged");
    running = [];
  });
  afterEach(async () => {
    for (const one of running) await one.stop("SIGKILL");
    lab.remove();
  });
  const dev = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { port, inspectorPort, options } = await freePorts();
    const started = sluice(["dev", ...args, "--env", "x", ...options], lab.folder, { ...lab.env, ...env });
    running.push(started);
    return { port, inspectorPort, started };
  };

  it("says so and lets in requests with the token that it shows, its user's commands and its Workers", async () => {
    const { port, started } = await dev(["sender", "receiver", "--ip", "0.0.0.0"]);
    const text = await started.printed(/Dashboard: \S+/);
    const token = /who brings the token (\S+)/.exec(text)?.[1] ?? "";
    expect(text).toMatch(new RegExp(`Dashboard: http://\\S+:${port}/__sluice/#token=${token}$`, "m"));
    expect(text).toContain(`who signs with the key SLUICE and the secret ${token}`);
    for (const host of [address, "127.0.0.1"]) {
      const origin = `http://${host}:${port}`;
      const status = async (path: string, init: RequestInit = {}) =>
        (await fetch(`${origin}${path}`, init)).status;
      const headers = { authorization: `Bearer ${token}` };
      expect(await status("/__sluice/api/queues")).toBe(401);
      expect(await status("/__sluice/api/queues/jobs-x/purge", { method: "POST" })).toBe(401);
      expect(await status("/__sluice/client/v4/accounts/sluice/queues")).toBe(401);
      expect(await status("/__sluice/metrics")).toBe(401);
      expect(await status("/__sluice/api/queues", { headers })).toBe(200);
      const list = (accessKeyId: string, secretAccessKey: string) =>
        new SQSClient({
          region: "us-east-1",
          endpoint: `${origin}/__sluice/aws`,
          maxAttempts: 1,
          credentials: { accessKeyId, secretAccessKey },
        }).send(new ListQueuesCommand());
      await expect(list("local", "local")).rejects.toThrow();
      expect((await list("SLUICE", token)).QueueUrls).toHaveLength(1);
    }
    const listed = sluice(["queues", "list", "--json"], lab.folder, lab.env);
    expect(await listed.ended).toBe(0);
    expect(listed.output).toContain("jobs-x");
    const [folder] = globSync(".sluice/dev/sender-x.*/sluice-x", { cwd: lab.folder });
    const file = join(lab.folder, folder ?? "", ".dev.vars");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("uses dev.ip of the configuration, and the tokens of the environment", async () => {
    const env = { SLUICE_API_TOKENS: "fixed", SLUICE_AWS_ACCESS_KEYS: "KEY:SECRET" };
    appendFileSync(join(lab.folder, "receiver/wrangler.toml"), `\n[dev]\nip = "${address}"\n`);
    const { port, started } = await dev(["receiver"], env);
    const text = await started.printed(/HTTP endpoints are called/);
    expect(text).toContain("who brings one of SLUICE_API_TOKENS");
    expect(text).not.toMatch(/was made for that|Dashboard:/);
    const ask = (headers = {}) => fetch(`http://${address}:${port}/__sluice/api/queues`, { headers });
    expect((await ask()).status).toBe(401);
    expect((await ask({ authorization: "Bearer fixed" })).status).toBe(200);
  });

  it("says that it goes on with the token of a Worker's .dev.vars when that is changed or deleted", async () => {
    const file = join(lab.folder, "sender/.dev.vars");
    const write = (token: string, other: string) =>
      writeFileSync(file, `SLUICE_API_TOKENS=${token}\nOTHER=${other}\n`);
    write("old", "1");
    const { port, started } = await dev(["sender", "receiver", "--ip", "0.0.0.0"]);
    await started.printed(/HTTP endpoints are called/);
    const ask = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`http://${address}:${port}/__sluice/api/queues`, { headers })).status;
    };
    const notice = /SLUICE_API_TOKENS has changed in the variables of \S+sender.wrangler\.toml/;
    let from = started.output.length;
    write("old", "2");
    expect(await started.printed(/Local server updated and ready/, from)).not.toMatch(notice);
    from = started.output.length;
    write("new", "2");
    await started.printed(notice, from);
    await started.printed(/Local server updated and ready/, from);
    expect([await ask("old"), await ask("new")]).toEqual([200, 401]);
    from = started.output.length;
    rmSync(file);
    await started.printed(notice, from);
  });

  it("has no Local Explorer for any headers and path of a request", async () => {
    const env = { X_LOCAL_EXPLORER: "true" };
    for (const folder of ["", "sender"])
      appendFileSync(join(lab.folder, folder, ".env"), "X_LOCAL_EXPLORER=true\n");
    const { port, inspectorPort, started } = await dev(["sender", "receiver", "--ip", "0.0.0.0"], env);
    const text = await started.printed(/Dashboard: \S+/);
    const token = /who brings the token (\S+)/.exec(text)?.[1] ?? "";
    const ask = (path: string, rest: Partial<ForgedRequest> = {}) =>
      forge({ address: address ?? "", port, path, ...rest });
    const through = { headers: { "mf-original-url": `http://localhost${EXPLORER_PATHS[1]}` } };
    const answers = [
      ...(await Promise.all(EXPLORER_PATHS.map((path) => ask(path)))),
      ...(await Promise.all(EXPLORER_PATHS.map((path) => ask(path, { address: "127.0.0.1" })))),
      await ask("/", through),
      await ask(`${EXPLORER_PATHS[1]}/sluice-x-Directory/objects`),
      await ask(`${EXPLORER_PATHS[1]}/sluice-x-Directory/query`, { body: QUERY }),
      await ask("/cdn-cgi/local/platform-proxy", { headers: { "mf-op": "GET", "mf-op-target": "[0]" } }),
    ];
    for (const answer of answers) {
      expect(answer.text).not.toMatch(/Directory|QueueBroker|"success"|<html/);
      expect(answer.text).not.toContain(token);
    }
    // No request reaches the broker by the header with which Miniflare's own parts choose a Worker.
    for (const path of ["/__sluice/api/queues", "/cdn-cgi/local/scheduled"]) {
      expect((await ask(path, { headers: { "mf-route-override": "sluice-x" } })).status).toBe(404);
    }
    await expect(fetch(`http://${address}:${inspectorPort}/json`)).rejects.toThrow();
    expect((await fetch(`http://127.0.0.1:${inspectorPort}/json`)).status).toBe(200);
  });

  it("keeps the Local Explorer on loopback, out of reach of other machines", async () => {
    const { port, started } = await dev(["sender", "receiver"]);
    await started.printed(/admin +http/);
    const [path = ""] = EXPLORER_PATHS;
    const { status, text } = await forge({ address: "127.0.0.1", port, path });
    expect([status, text]).toEqual([200, expect.stringContaining("Directory")]);
    expect(await forge({ address: address ?? "", port, path })).toEqual({ status: 0, text: "" });
  });

  it("is refused where another session has the broker, open to its own machine", async () => {
    const shared = ["--persist-to", "shared"];
    const { started } = await dev(["receiver", ...shared]);
    await started.printed(/admin +http/);
    const second = await dev(["sender", "--ip", "0.0.0.0", ...shared]);
    expect(await second.started.ended).toBe(1);
    expect(second.started.output).toContain("knows nothing of other machines");
  });
});
