import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { nodeRefusal } from "./refusal.ts";

it.each(["20.20.2", "22.15.99", "22.9.0"])("Node.js %s is refused with a way to a newer one", (version) => {
  expect(nodeRefusal(version)).toBe(
    `sluice needs Node.js 22.16 or later, and this is ${version}. In a project, ` +
      '"npm install --save-dev node@24" installs one that "npx" takes.',
  );
});

it.each(["22.16.0", "22.16.1", "22.17.0", "23.0.0", "24.1.0", "100.0.0"])(
  "Node.js %s is accepted",
  (version) => {
    expect(nodeRefusal(version)).toBe(null);
  },
);

it.each(["cli", "testing", "vite"])(
  "the oldest Node.js is that of the builds and of package.json of %s",
  (name) => {
    const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
    expect(JSON.parse(read(`${name}/package.json`)).engines.node).toBe(">=22.16.0");
    expect(read("bundling/bundling.mjs")).toContain('target: "node22.16"');
  },
);
