import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { wranglerIn } from "@sluice/project/wrangler/run-wrangler";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCloudflare } from "./cloudflare/api.ts";
import { openConverted } from "./cloudflare-configs.ts";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { HAS_OTHERS, otherWrangler } from "./others.ts";
import { type Running, sluice, WRANGLER_BIN } from "./running.ts";

const CF_WRANGLER_BIN = join(WRANGLER_BIN, "../cf-wrangler.js");

/** The shop with a `cloudflare.config.ts` in the place of each configuration but one. */
describe("sluice dev with a cloudflare.config.ts", () => {
  let lab: Lab;
  let running: Running;
  let url: string;
  const get = async (path: string) => (await fetch(url + path)).text();
  const write = (file: string, text: string) => writeFileSync(join(lab.folder, file), text);
  const config = (name: string) => readFileSync(join(lab.folder, name, "cloudflare.config.ts"), "utf8");

  beforeAll(async () => {
    lab = openConverted("shop");
    const plain = openLab("shop");
    write("objects/wrangler.toml", readFileSync(join(plain.folder, "objects/wrangler.toml"), "utf8"));
    plain.remove();
    write("mailer/names.ts", 'export const queue: string = "mails";\n');
    const text = config("mailer").replace('name: "mails"', "name: queue");
    write("mailer/cloudflare.config.ts", `import { queue } from "./names.ts";\n${text}`);
    write("front/.dev.vars", "SECRET=from-dev-vars\n");
    const ports = await freePorts();
    url = ports.url;
    const targets = [".", "../objects", "../mailer"];
    running = sluice(["dev", ...targets, ...ports.options], join(lab.folder, "front"), lab.env);
    await running.printed(/admin +http/);
  });
  afterAll(async () => {
    await running.stop();
    lab.remove();
  });

  it("runs beside a Worker with a Wrangler configuration, and delivers what they send", async () => {
    expect(running.output).toContain("mails    front (MAILS), objects (MAILS)  mailer");
    expect(await get("/send/class?text=class")).toBe("sent");
    expect(await get("/send/object?text=object")).toBe("sent");
    await expect.poll(async () => JSON.parse(await get("/received")).sort()).toEqual(["class", "object"]);
    expect(JSON.parse(await get("/env"))).toMatchObject({ secret: "from-dev-vars" });
    expect(await get("/")).toContain("The shop's page");
  });

  it("writes the types of the Worker in the current folder, as wrangler dev does", async () => {
    await running.printed(/Regenerated \.cloudflare\/types\/index\.d\.ts/);
    expect(existsSync(join(lab.folder, "front/.cloudflare/types/index.d.ts"))).toBe(true);
    expect(existsSync(join(lab.folder, "mailer/.cloudflare"))).toBe(false);
  });

  it("goes on with what it read before after a mistake, and says what is wrong in a sentence", async () => {
    const before = running.output.length;
    const text = config("front");
    write("front/cloudflare.config.ts", text.replace('name: "nobodys"', 'nam: "nobodys"'));
    const said = await running.printed(/Sluice goes on with what it read before/, before);
    expect(said).toContain(
      `${join(lab.folder, "front/cloudflare.config.ts")}: worker.env.NOBODYS: Unrecognized key: "nam"\n`,
    );
    expect(await get("/send/class?text=still")).toBe("sent");
    write("front/cloudflare.config.ts", text);
    await running.printed(/The configuration has been read again\./, before);
  });

  it("takes up a change of a module that the configuration imports", async () => {
    const before = running.output.length;
    write("mailer/names.ts", 'export const queue: string = "nobodys";\n');
    await running.printed(/nobodys +front \(NOBODYS\) +mailer/, before);
    await get("/send/nobody?text=found");
    await expect.poll(async () => JSON.parse(await get("/received"))).toContain("found");
  });

  it("takes up the [sluice] table of a wrangler.toml that appears beside it", async () => {
    const before = running.output.length;
    write("mailer/wrangler.toml", '[sluice.queues.later]\nfifo = "wrong"\n');
    await running.printed(/mailer\/wrangler\.toml:2: .*Sluice goes on/s, before);
    write("mailer/wrangler.toml", "[sluice.queues.later]\ndelivery_delay = 60\n");
    await running.printed(/later +- +-/, before);
    write("mailer/wrangler.toml", "[slice.queues.later]\ndelivery_delay = 60\n");
    await running.printed(/mailer\/wrangler\.toml:1: .*"slice".*Sluice goes on/s, before);
  });
});

it("sluice build makes plain Wrangler run a cloudflare.config.ts on the broker, in its mode", {
  tags: "slow",
}, async () => {
  const lab = openConverted("staged");
  const folder = join(lab.folder, "sender");
  try {
    const build = sluice(["build", "--mode", "x"], folder, lab.env);
    expect(await build.ended, build.output).toBe(0);
    using wrangler = wranglerIn(folder, lab.env);
    const { code, all } = await wrangler(["deploy", "--dry-run"]);
    expect(code, all).toBe(0);
    expect(all).toContain("QueueBroker, defined in sluice-x");
    expect(existsSync(join(folder, ".sluice/sender-x/wrangler.json"))).toBe(true);
  } finally {
    lab.remove();
  }
});

it("sluice build makes plain Wrangler run the broker of a cloudflare.config.ts of its own", {
  tags: "slow",
}, async () => {
  const lab = openConverted("staged");
  const module = `export default { worker: {
    name: "team", compatibilityDate: "2026-11-01", env: { SLUICE_AWS_REGION: { type: "text", value: "eu-west-1" } },
    exports: { QueueBroker: { type: "durable-object", storage: "sqlite" } },
  } };`;
  writeFileSync(join(lab.folder, "cloudflare.config.ts"), module);
  try {
    const build = sluice(["build", "sender", "receiver", "--mode", "x"], lab.folder, lab.env);
    expect(await build.ended, build.output).toBe(0);
    using wrangler = wranglerIn(lab.folder, lab.env);
    const { code, all } = await wrangler(["deploy", "--dry-run"]);
    expect(code, all).toBe(0);
    expect(all).toMatch(/receiver-x#SluiceQueueConsumer.*eu-west-1/s);
    expect(existsSync(join(lab.folder, ".sluice/team-x/wrangler.json"))).toBe(true);
  } finally {
    lab.remove();
  }
});

it("a program's getPlatformProxy sends to the queues of a cloudflare.config.ts, in each of its modes", {
  tags: "slow",
}, () => {
  const lab = openConverted("staged");
  const source = `
    import { readdirSync } from "node:fs";
    import { getPlatformProxy } from ${JSON.stringify(import.meta.resolve("sluice"))};
    const generated = () => readdirSync(".sluice/proxy").map((name) => name.replace(/[0-9a-f]{8}$/, "MARK")).sort();
    const open = (environment, persist) => getPlatformProxy({ environment, persist });
    const proxies = await Promise.all([open("x", true), open("y", { path: "elsewhere" })]);
    for (const { env } of proxies) {
      const { metadata } = await env.JOBS.send("hello");
      console.log(Object.keys(env).sort(), env.SECRET, metadata.metrics.backlogCount);
    }
    console.log(generated());
    for (const { dispose } of proxies) await dispose();
    console.log(generated());
  `;
  const cwd = join(lab.folder, "sender");
  const file = join(cwd, "cloudflare.config.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace('"sender" + suffix', '"sender"'));
  for (const mode of ["x", "y"]) writeFileSync(join(cwd, `.dev.vars.${mode}`), `SECRET=of-${mode}\n`);
  writeFileSync(join(cwd, "program.mjs"), source);
  try {
    const output = execFileSync(process.execPath, ["--no-warnings", "program.mjs"], {
      cwd,
      env: lab.env,
      encoding: "utf8",
    });
    const isSecrets = (line: string) => line.startsWith("Using secrets");
    const lines = output.trimEnd().split("\n");
    expect(lines.filter(isSecrets).sort()).toEqual([
      "Using secrets defined in .dev.vars.x",
      "Using secrets defined in .dev.vars.y",
    ]);
    expect(lines.filter((line) => !isSecrets(line))).toEqual([
      "[ 'JOBS', 'SECRET' ] of-x 1",
      "[ 'JOBS', 'SECRET' ] of-y 1",
      "[ 'sender.x', 'sender.y', 'sluice-x', 'sluice-y.MARK' ]",
      "[ 'sender.x', 'sender.y', 'sluice-x' ]",
    ]);
  } finally {
    lab.remove();
  }
});

it.each(["doctor", "build", "dev"])(
  "sluice %s fails for a cloudflare.config.ts that ends its process, and names it",
  { tags: "slow" },
  async (command) => {
    const lab = openConverted("staged");
    const file = join(lab.folder, "sender/cloudflare.config.ts");
    writeFileSync(file, `process.exit(${command === "doctor" ? 0 : 3});\n${readFileSync(file, "utf8")}`);
    try {
      const running = sluice([command, "."], join(lab.folder, "sender"), lab.env);
      expect(await running.ended).toBe(1);
      expect(running.output).toMatch(
        /sender\/cloudflare\.config\.ts: it has ended the process that reads it, with exit code [03]\.\n$/,
      );
    } finally {
      lab.remove();
    }
  },
);

describe("a cloudflare.config.ts that fails after it was read", { tags: "slow" }, () => {
  const LATE = /sender\/cloudflare\.config\.ts(:\d+)?: warning: it failed after it had been read: late boom/;
  const failing = (text: string) => {
    const lab = openConverted("staged");
    const file = join(lab.folder, "sender/cloudflare.config.ts");
    writeFileSync(file, `${text}\n${readFileSync(file, "utf8")}`);
    return lab;
  };

  it.each(["build", "doctor"])("is a warning of sluice %s", async (command) => {
    const lab = failing('Promise.reject(new Error("late boom"));');
    try {
      const running = sluice([command, "sender"], lab.folder, lab.env);
      expect(await running.ended, running.output).toBe(0);
      expect(running.output).toMatch(LATE);
    } finally {
      lab.remove();
    }
  });

  it("is a warning of sluice deploy", async () => {
    await using cloudflare = await startCloudflare();
    const lab = failing('Promise.reject(new Error("late boom"));');
    try {
      const running = sluice(["deploy", "sender", "--dry-run"], lab.folder, {
        ...lab.env,
        ...cloudflare.env,
      });
      expect(await running.ended, running.output).toBe(0);
      expect(running.output).toMatch(LATE);
    } finally {
      lab.remove();
    }
  });

  it("is a warning in the log of sluice serve, which goes on", async () => {
    // Not before everything runs.
    const lab = failing(
      'import { existsSync } from "node:fs";\n' +
        'const wait = setInterval(() => { if (existsSync("fail")) { clearInterval(wait); throw "late boom"; } }, 20);',
    );
    const port = await getPort();
    const running = sluice(["serve", "sender", "receiver", "--port", `${port}`], lab.folder, lab.env);
    try {
      await running.printed(/data {4}/);
      writeFileSync(join(lab.folder, "fail"), "");
      await running.printed(/: warning: it failed after it had been read: late boom/);
      expect(await (await fetch(`http://127.0.0.1:${port}/?served`)).text()).toBe("sent");
      await running.printed(/got \?served on jobs/);
      expect(await running.stop()).toBe(0);
    } finally {
      await running.stop();
      lab.remove();
    }
  });
});

describe("Build Output that cf-wrangler has built", { tags: "slow" }, () => {
  const OUTPUT = ".cloudflare/output/v1";
  let lab: Lab;
  const folder = (name: string) => join(lab.folder, name);

  beforeAll(() => {
    lab = openConverted("staged");
    for (const name of ["sender", "receiver"]) {
      execFileSync(process.execPath, [CF_WRANGLER_BIN, "build"], { cwd: folder(name), env: lab.env });
      // Only the output is run.
      writeFileSync(join(folder(name), "index.js"), "throw new Error('sources');");
    }
  });
  afterAll(() => lab.remove());

  it("runs under sluice serve", async () => {
    const port = await getPort();
    const targets = ["sender", "receiver"].map((name) => `${name}/${OUTPUT}`);
    const running = sluice(["serve", ...targets, "--port", `${port}`], lab.folder, lab.env);
    try {
      await running.printed(/data {4}/);
      expect(await (await fetch(`http://127.0.0.1:${port}/?served`)).text()).toBe("sent");
      await running.printed(/got \?served on jobs/);
    } finally {
      await running.stop();
    }
  });

  it("runs under sluice dev", async () => {
    const { options, url } = await freePorts();
    const targets = ["sender", "receiver"].map((name) => `${name}/${OUTPUT}`);
    const running = sluice(["dev", ...targets, ...options], lab.folder, lab.env);
    try {
      await running.printed(/admin +http/);
      expect(await (await fetch(`${url}/?dev`)).text()).toBe("sent");
      await running.printed(/got \?dev on jobs/);
    } finally {
      await running.stop();
    }
  });

  it("is deployed by sluice deploy", async () => {
    await using cloudflare = await startCloudflare();
    const targets = ["sender", "receiver"].map((name) => `${name}/${OUTPUT}`);
    const running = sluice(["deploy", ...targets], lab.folder, { ...lab.env, ...cloudflare.env });
    expect(await running.ended, running.output).toBe(0);
    expect([...cloudflare.account.scripts.keys()].sort()).toEqual(["receiver", "sender", "sluice"]);
    const uploaded = Object.values(cloudflare.account.live("sender").modules).join("\n");
    expect(uploaded).toContain("sent");
    expect(uploaded).not.toContain("sources");
    expect(cloudflare.unknown).toEqual([]);
  });

  it("runs with a main module in a subfolder, and with modules that are no JavaScript", async () => {
    const output = folder(`sender/${OUTPUT}/workers/default`);
    const file = join(output, "worker.config.json");
    const { manifest, ...worker } = JSON.parse(readFileSync(file, "utf8"));
    mkdirSync(join(output, "bundle/server"));
    writeFileSync(join(output, "bundle/words.txt"), "words and ");
    writeFileSync(
      join(output, "bundle/server/main.js"),
      `import words from "../words.txt"; import built from "../${manifest.mainModule}";
      const fetch = async (...args) => new Response(words + await (await built.fetch(...args)).text());
      export default { ...built, fetch };`,
    );
    const added = { "server/main.js": { type: "esm" }, "words.txt": { type: "text" } };
    const modules = { ...manifest.modules, ...added };
    writeFileSync(
      file,
      JSON.stringify({ ...worker, manifest: { ...manifest, mainModule: "server/main.js", modules } }),
    );
    const port = await getPort();
    const running = sluice(["serve", `sender/${OUTPUT}`, "--port", `${port}`], lab.folder, lab.env);
    try {
      await running.printed(/data {4}/);
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("words and sent");
    } finally {
      await running.stop();
    }
  });

  it("is refused in a version that is not known", async () => {
    mkdirSync(folder("other/.cloudflare/output/v7"), { recursive: true });
    const running = sluice(["dev", "other"], lab.folder, lab.env);
    expect(await running.ended).toBe(1);
    expect(running.output).toContain(
      `${folder("other/.cloudflare/output/v7")} is Build Output of version 7, and Sluice reads version 1.`,
    );
  });
});

it.skipIf(!HAS_OTHERS)(
  "sluice doctor names a Wrangler that cannot load a cloudflare.config.ts",
  { tags: "slow" },
  async () => {
    const lab = openConverted("staged");
    try {
      mkdirSync(join(lab.folder, "node_modules"));
      symlinkSync(otherWrangler("4.106.0"), join(lab.folder, "node_modules/wrangler"));
      const running = sluice(["doctor", "sender"], lab.folder, lab.env);
      expect(await running.ended).toBe(1);
      expect(running.output).toMatch(
        /sender\/cloudflare\.config\.ts: Wrangler 4\.136\.0 or newer loads it, and \S+ is 4\.106\.0\. Install another one/,
      );
    } finally {
      lab.remove();
    }
  },
);
