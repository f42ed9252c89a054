// @module-tag slow
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freePorts, openLab } from "./lab.ts";
import { sluice } from "./running.ts";

const WEB = `name = "a-web"
main = "src/index.ts"
compatibility_date = "2026-01-01"
[[queues.producers]]
queue = "orders"
binding = "ORDERS"
`;
const MAILER = `name = "mailer"
main = "index.js"
compatibility_date = "2026-01-01"
[[queues.consumers]]
queue = "orders"
max_batch_timeout = 0
`;
const ENTRY = 'import { lamp } from "./lamp";\nexport default lamp;';
const LAMP = `export const lamp = {
  async fetch(request, env) {
    await env.ORDERS.send("lamp");
    return new Response("sent");
  },
};`;
const HANDLER = `export default {
  async queue(batch) {
    for (const { body } of batch.messages) console.log("got", body);
  },
};`;
const BROKEN = "export default {";

/** Starts `sluice dev` on the Workers of these files, of which some do not build. */
async function develop(files: Readonly<Record<string, string>>) {
  const lab = openLab("staged");
  onTestFinished(() => lab.remove());
  const write = (file: string, text: string) => {
    const path = join(lab.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const [file, text] of Object.entries(files)) write(file, text);
  const { options, url } = await freePorts();
  const folders = [...new Set(Object.keys(files).map((file) => file.split("/")[0] ?? ""))];
  const running = sluice(["dev", ...folders, ...options], lab.folder, lab.env);
  onTestFinished(async () => void (await running.stop()));
  return { running, write, url };
}

it("sluice dev waits for a Worker that does not build at the start, and for each further fault", async () => {
  const { running, write, url } = await develop({ "web/wrangler.toml": WEB, "web/src/index.ts": BROKEN });
  await running.printed(/found end of file[\s\S]*Waiting for a change in the sources of a-web/);
  expect(running.output).not.toMatch(/admin +http/);

  const resolved = running.output.length;
  write("web/src/index.ts", ENTRY);
  await running.printed(/Could not resolve "\.\/lamp"[\s\S]*Waiting for a change/, resolved);

  write("web/src/lamp.ts", LAMP);
  await running.printed(/admin +http/);
  expect(await (await fetch(url)).text()).toBe("sent");
  expect(await running.stop()).toBe(130);
});

it("sluice dev waits for the one of two Workers that does not build", async () => {
  const { running, write, url } = await develop({
    "web/wrangler.toml": WEB,
    "web/src/index.ts": LAMP.replace("const lamp =", "default"),
    "mailer/wrangler.toml": MAILER,
    "mailer/index.js": BROKEN,
  });
  await running.printed(/Waiting for a change in the sources of mailer/);
  write("mailer/index.js", HANDLER);
  await running.printed(/admin +http/);
  expect(await (await fetch(url)).text()).toBe("sent");
  await running.printed(/got lamp/);
});

it("sluice dev can be ended while it waits for a Worker that does not build", async () => {
  const { running } = await develop({ "mailer/wrangler.toml": MAILER, "mailer/index.js": BROKEN });
  await running.printed(/Waiting for a change/);
  expect(await running.stop()).toBe(130);
});

it("a Worker and the broker answer while a change of its sources does not build, and by the next one that does", async () => {
  const { running, write, url } = await develop({
    "web/wrangler.toml": WEB,
    "web/src/index.ts": LAMP.replace("const lamp =", "default"),
  });
  await running.printed(/admin +http/);
  expect(await (await fetch(url)).text()).toBe("sent");
  write("web/src/index.ts", BROKEN);
  await running.printed(/found end of file[\s\S]*a-web goes on with its last build\./);
  const signal = AbortSignal.timeout(10_000);
  expect(await (await fetch(url, { signal })).text()).toBe("sent");
  const queues = await fetch(`${url}/__sluice/api/queues`, { signal });
  expect([queues.status, await queues.text()]).toEqual([200, expect.stringContaining('"orders"')]);

  write("web/src/index.ts", LAMP.replace("const lamp =", "default").replace('"sent"', '"sent anew"'));
  await expect.poll(async () => (await fetch(url)).text()).toBe("sent anew");
});

it("sluice dev waits for a changed Worker that throws while it is loaded, and ends where the first one does", async () => {
  const good = LAMP.replace("const lamp =", "default");
  const thrower = `${good}\nthrow new Error("at load");`;
  const files = { "web/wrangler.toml": WEB, "web/src/index.ts": good };
  const { running, write, url } = await develop(files);
  await running.printed(/admin +http/);
  expect(await (await fetch(url)).text()).toBe("sent");
  write("web/src/index.ts", thrower);
  await running.printed(
    /a-web throws while it is loaded, at web\/src\/index\.ts:7:7: Error: at load\nWaiting for a change in the sources of a-web/,
  );
  write("web/src/index.ts", good.replace('"sent"', '"mended"'));
  expect(await (await fetch(url, { signal: AbortSignal.timeout(30_000) })).text()).toBe("mended");

  const { running: first } = await develop({ ...files, "web/src/index.ts": thrower });
  expect(await first.ended).toBe(1);
  expect(first.output).toMatch(
    /a-web throws while it is loaded, at web\/src\/index\.ts:7:7[\s\S]*sluice dev ends/,
  );
  expect(first.output).not.toMatch(/create an issue|Runtime stderr/);
});
