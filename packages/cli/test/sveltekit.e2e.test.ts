import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import { afterAll, beforeAll, expect, it } from "vitest";
import { install } from "./install.ts";
import { type Lab, openLab } from "./lab.ts";
import { Running } from "./running.ts";

const MODULES = fileURLToPath(new URL("../node_modules", import.meta.url));
const INSTALLED = ["@sveltejs/kit", "@sveltejs/vite-plugin-svelte", "svelte", "vite"];

let lab: Lab;
const running: Running[] = [];

beforeAll(() => {
  lab = openLab("sveltekit");
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
  lab.remove();
});

it("a SvelteKit project sends to the broker in its dev server, and sluice dev handles it", async () => {
  const bin = install(lab.folder);
  for (const name of INSTALLED) {
    const target = join(lab.folder, "node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(realpathSync(join(MODULES, name)), target);
  }
  const { NODE_ENV: _, VITEST: __, ...rest } = lab.env;
  const env = { ...rest, CLOUDFLARE_CF_FETCH_ENABLED: "false" };
  const [port, devPort, inspectorPort] = await Promise.all([getPort(), getPort(), getPort()]);
  const vite = new Running(["node_modules/vite/bin/vite.js", "dev", "--port", `${port}`], lab.folder, env);
  running.push(vite);
  await vite.printed(/Local:/);
  const see = async (query: string) => {
    const response = await fetch(`http://localhost:${port}/${query}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}\n${vite.output}`);
    return text.replaceAll(/<!--.*?-->/g, "");
  };
  expect(await see("?send=first")).toContain("waiting: 1");

  const ports = ["--port", `${devPort}`, "--inspector-port", `${inspectorPort}`];
  const args = [bin, "dev", "post", "--persist-to", ".wrangler/state", ...ports];
  const post = new Running(args, lab.folder, env);
  running.push(post);
  await post.printed(/got first/);
  await see("?send=second");
  await post.printed(/got second/);
});
