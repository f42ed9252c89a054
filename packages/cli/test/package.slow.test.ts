import { mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { install } from "./install.ts";
import { eventually, freePorts, type Lab, openLab, seePage } from "./lab.ts";
import { HAS_OTHERS, otherWrangler } from "./others.ts";
import { Running } from "./running.ts";

let lab: Lab;

beforeAll(() => {
  lab = openLab("shop");
});
afterAll(() => lab.remove());

it("the packed package runs a project that it is installed in", async () => {
  const project = lab.folder;
  writeFileSync(join(project, "package.json"), '{ "private": true }');
  const bin = install(project);
  expect(readFileSync(bin, "utf8").startsWith("#!/usr/bin/env node\n")).toBe(true);
  expect(dirname(bin)).toBe(join(project, "node_modules/sluice/dist"));

  const { port, options, url } = await freePorts();
  const running = new Running([bin, "dev", "front", "objects", "mailer", ...options], project, lab.env);
  try {
    await running.printed(/admin +http/);
    const get = async (path: string) => (await fetch(url + path)).text();
    expect(await get("/send/class?text=packed")).toBe("sent");
    await eventually(() => get("/received"), '["packed"]');
    expect(await get("/__sluice/health")).toContain("ok");
    await seePage(url);
    // The broker and the code around a Worker come from bundles; stack traces name their sources.
    const trace = await get("/fail");
    expect(trace).toContain(`${pathToFileURL(project)}/front/src/index.ts:`);
    expect(trace).toContain("/sluice/packages/project/src/runtime/front-door.ts:");
  } finally {
    await running.stop();
  }

  // The broker alone: another bundle, and the page from the package.
  const alone = new Running([bin, "serve", "--port", `${port}`, "--persist-to", "alone"], project, lab.env);
  try {
    await alone.printed(/data {4}/);
    await seePage(`http://127.0.0.1:${port}`);
  } finally {
    await alone.stop();
  }
});

/** A Worker that sends to itself, with a date that every Wrangler knows. */
const ALONE = {
  "package.json": '{ "private": true }',
  "wrangler.json": JSON.stringify({
    name: "alone",
    main: "index.js",
    compatibility_date: "2026-01-01",
    queues: {
      producers: [{ binding: "JOBS", queue: "jobs" }],
      consumers: [{ queue: "jobs", max_batch_timeout: 0 }],
    },
  }),
  "index.js": `export default {
    async fetch(request, env) {
      await env.JOBS.send(new URL(request.url).search);
      return new Response("sent");
    },
    queue({ messages }) {
      for (const { body } of messages) console.log("got", body);
    },
  };`,
};

it.skipIf(!HAS_OTHERS)(
  "the packed package runs a project with the oldest Wrangler that it allows",
  async () => {
    const project = join(lab.folder, "..", "alone");
    mkdirSync(project);
    for (const [name, text] of Object.entries(ALONE)) writeFileSync(join(project, name), text);
    const bin = install(project, otherWrangler("4.60.0"));
    const { port, options, url } = await freePorts();
    const running = new Running([bin, "dev", ...options], project, lab.env);
    try {
      await running.printed(/admin +http/);
      expect(running.output).toContain("wrangler 4.60.0");
      expect(await (await fetch(`${url}/?old`)).text()).toBe("sent");
      await running.printed(/got \?old/);
      await seePage(url);
    } finally {
      // This Wrangler ends with 0 where newer ones end with 130.
      await running.stop();
    }
    const serve = new Running([bin, "serve", ".", "--port", `${port}`], project, lab.env);
    try {
      await serve.printed(/data {4}/);
      expect(await (await fetch(`http://localhost:${port}/?served`)).text()).toBe("sent");
      await serve.printed(/got \?served/);
    } finally {
      expect(await serve.stop()).toBe(0);
    }
  },
);

it("the packed package says what to install where there is no Wrangler", async () => {
  const project = join(lab.folder, "..", "bare");
  mkdirSync(project);
  for (const [name, text] of Object.entries(ALONE)) writeFileSync(join(project, name), text);
  const bin = install(project);
  unlinkSync(join(project, "node_modules/wrangler"));
  const running = new Running([bin, "dev"], project, lab.env);
  expect(await running.ended).toBe(1);
  expect(running.output).toBe(
    "Sluice runs Workers with the Wrangler of your project, and there is none. Install it: " +
      "npm install --save-dev wrangler\n",
  );
});
