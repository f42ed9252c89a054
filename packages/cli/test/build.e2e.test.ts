import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RunWrangler, wranglerIn } from "@sluice/project/wrangler/run-wrangler";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts, type Lab, openLab, seePage } from "./lab.ts";
import { type Running, sluice, wrangler } from "./running.ts";

/** Configuration of a broker in the folder above the Workers'. Its main need not exist. */
const BROKER = `name = "shop-broker"
main = "src/broker.ts"
compatibility_date = "2026-11-01"
[[durable_objects.bindings]]
name = "SLUICE_QUEUES"
class_name = "QueueBroker"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["QueueBroker"]
`;
const DEPLOY = ["deploy", "--dry-run", "--compatibility-date", "2026-11-01"];
const BYSTANDER = {
  "wrangler.json": '{ "name": "bystander", "main": "index.js" }',
  "index.js": "export default {};",
};

describe("sluice build", () => {
  let lab: Lab;
  let build: Running;
  let inProcess: RunWrangler;
  const started: Running[] = [];
  const folder = (name: string) => join(lab.folder, name);
  /** One process for all tests: loading Wrangler takes longer than building a Worker. */
  const deploy = async (cwd: string, ...more: string[]) => {
    const { code, all } = await inProcess([...DEPLOY, "--cwd", cwd, ...more]);
    expect(code, all).toBe(0);
    return all;
  };

  beforeAll(async () => {
    lab = openLab("shop");
    writeFileSync(folder("wrangler.toml"), BROKER);
    mkdirSync(folder("bystander"));
    for (const [name, contents] of Object.entries(BYSTANDER))
      writeFileSync(folder(`bystander/${name}`), contents);
    build = sluice(["build", "front", "objects", "mailer"], lab.folder, lab.env);
    expect(await build.ended, build.output).toBe(0);
    inProcess = wranglerIn(lab.folder, lab.env);
  });
  afterAll(async () => {
    await Promise.all(started.map((running) => running.stop()));
    lab.remove();
  });

  it("prints the command that runs everything in one process", () => {
    const of = (names: string[]) => names.map((name) => `-c .sluice/${name}/wrangler.json`).join(" ");
    expect(build.output).toContain(
      `\n  npx wrangler dev ${of(["front", "objects", "mailer", "shop-broker"])}\n`,
    );
    expect(build.output).toContain('"wrangler dev -c front/wrangler.jsonc');
  });

  it("prints each file that it wrote, with the folder whose wrangler uses it", () => {
    expect(build.output).toContain("front: .sluice/front/wrangler.json, used by wrangler in front");
    expect(build.output).toContain("shop-broker: .sluice/shop-broker/wrangler.json, used by wrangler in .");
    expect(build.output).toContain("bystander: redirected to its own configuration");
  });

  it("uses a build tool's output and redirects wrangler from it, in a second run too", {
    tags: "slow",
  }, async () => {
    const files = {
      "wrangler.jsonc": '{ "name": "web", "main": "src/app.ts", "assets": {} }',
      ".wrangler/deploy/config.json":
        '{ "configPath": "../../dist/web/wrangler.json", "auxiliaryWorkers": [] }',
      "dist/web/wrangler.json": JSON.stringify({
        name: "web",
        main: "index.js",
        compatibility_date: "2026-11-01",
        no_bundle: true,
        assets: { directory: "../client" },
        userConfigPath: "../../wrangler.jsonc",
        rules: [{ type: "ESModule", globs: ["**/*.js"] }],
        queues: { producers: [{ binding: "MAIL", queue: "mail" }], consumers: [{ queue: "mail" }] },
      }),
      "dist/web/index.js": 'import "./chunk.js"; export default { fetch: () => new Response(), queue() {} };',
      "dist/web/chunk.js": "export {};",
      "dist/client/index.html": "<title>web</title>",
    };
    for (const [name, contents] of Object.entries(files)) {
      mkdirSync(dirname(folder(`web/${name}`)), { recursive: true });
      writeFileSync(folder(`web/${name}`), contents);
    }
    for (let round = 0; round < 2; round++) {
      const built = sluice(["build"], folder("web"), lab.env);
      expect(await built.ended, built.output).toBe(0);
      expect(built.output).toContain("web: .sluice/web/wrangler.json, used by wrangler in .");
    }
    const deployed = wrangler(DEPLOY, folder("web"), lab.env);
    expect(await deployed.ended, deployed.output).toBe(0);
    expect(deployed.output).toContain("env.__SLUICE_QUEUES");
    expect(deployed.output).toContain("chunk.js");
  });

  it.each([
    ["front", "front", "env.__SLUICE_QUEUES (QueueBroker, defined in shop-broker)"],
    ["objects", "objects", "env.COUNTER (Counter)"],
    ["mailer", "mailer", "env.INBOX (Inbox)"],
    [".", "shop-broker", "env.CONSUMER_MAILER (mailer#SluiceQueueConsumer)"],
  ])("has a plain wrangler deploy in %s use the generated configuration", async (cwd, name, binding) => {
    const output = await deploy(folder(cwd));
    expect(output).toContain(`.sluice/${name}/wrangler.json`);
    expect(output).toContain(binding);
  });

  it("has a deployment of the broker upload the page as a module", async () => {
    await deploy(lab.folder, "--outdir", "uploaded");
    const [page] = globSync("uploaded/*page.bin", { cwd: lab.folder });
    expect(statSync(folder(page ?? "")).size).toBeGreaterThan(10_000);
    expect(readFileSync(folder("uploaded/entry.js"), "utf8")).toMatch(/from ?"\.\/[0-9a-f]*-?page\.bin"/);
  });

  it("leaves a Worker in a folder below to its own configuration", async () => {
    expect(await deploy(folder("bystander"))).toContain("No bindings found.");
  });

  // conformance: several-processes
  it("consumer, producers and broker in separate processes meet in any order", { tags: "slow" }, async () => {
    const start = async (cwd: string) => {
      const { options, url } = await freePorts();
      for (;;) {
        const running = wrangler(["dev", ...options], cwd, lab.env);
        started.push(running);
        const isReady = await running.printed(/Ready on/).then(
          () => true,
          () => false,
        );
        if (isReady) return { running, url };
        // Wrangler chooses a port for a socket of its own, and another server may take it first.
        expect(running.output).toContain('Address already in use (socket "direct:');
      }
    };
    const mailer = await start(folder("mailer"));
    const [{ url: front }] = await Promise.all([start(folder("front")), start(folder("objects"))]);
    const { url: broker } = await start(lab.folder);

    const received = async () => (await fetch(`${front}/received`)).json();
    const send = async (path: string) => (await fetch(front + path)).text();
    await expect.poll(() => send("/send/class?text=from-front")).toBe("sent");
    await expect.poll(() => send("/send/object?text=from-objects")).toBe("sent");
    await expect.poll(received).toEqual(expect.arrayContaining(["from-front", "from-objects"]));
    // Messages sent while the consumer is away wait for it, and no attempt is counted.
    await mailer.running.stop();
    await expect.poll(() => send("/send/class?text=meanwhile")).toBe("sent");
    await start(folder("mailer"));
    await expect.poll(received).toContain("meanwhile");
    // Here the broker serves its own paths, and no clock can be moved outside of sluice dev.
    expect((await fetch(`${front}/__sluice/health`)).status).toBe(404);
    expect((await fetch(`${broker}/__sluice/health`)).status).toBe(200);
    await seePage(broker);
    const clock = { method: "POST", body: '{"advanceMs": 1}' };
    expect((await fetch(`${broker}/__sluice/api/clock`, clock)).status).toBe(403);
  });
});

it("sluice build prints a command that runs Workers of an environment and an open broker in one process", {
  tags: "slow",
}, async () => {
  const lab = openLab("staged");
  const { options: ports, url } = await freePorts();
  let running: Running | null = null;
  try {
    const build = sluice(["build", "sender", "receiver", "--env", "x"], lab.folder, lab.env);
    expect(await build.ended, build.output).toBe(0);
    const args = /^ {2}npx wrangler (dev .*)$/m.exec(build.output)?.[1]?.split(" ") ?? [];
    running = wrangler([...args, ...ports], lab.folder, lab.env);
    await running.printed(/Ready on/);
    expect(await (await fetch(`${url}/?1`)).text()).toBe("sent");
    await running.printed(/got \?1 on jobs-x/);
    await running.stop();

    // Runs the broker alone, as in another terminal, not deployed.
    const broker = ["dev", "--config", ".sluice/sluice-x/wrangler.json"];
    running = wrangler([...broker, ...ports], lab.folder, lab.env);
    await running.printed(/Ready on/);
    const queues = await fetch(`${url}/__sluice/api/queues`);
    expect(queues.status).toBe(200);
    expect(await queues.text()).toContain("jobs-x");
  } finally {
    await running?.stop();
    lab.remove();
  }
});
