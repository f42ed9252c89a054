import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { ViteProject } from "./vite-project.ts";

/**
 * Measures the time until the example project's Worker answers, with the broker and without, in turns: `start-times
 * [rounds]`. It has no auxiliary Worker, because the broker counts for most with a single one.
 */
const rounds = Number(process.argv[2] ?? 5);
const projects = { sluice: new ViteProject(), plain: new ViteProject() };
change(projects.sluice, /auxiliaryWorkers: \[.*?\],/, "");
change(projects.plain, /auxiliaryWorkers: \[.*?\],/, "");
change(projects.plain, /^import .*@sluice\/vite.*\n/m, "const sluice = (options) => options;\n");

const times: Record<keyof typeof projects, number[]> = { sluice: [], plain: [] };
try {
  // The first start of each fills Vite's cache.
  for (let round = 0; round <= rounds; round++) {
    for (const [name, project] of Object.entries(projects) as [keyof typeof projects, ViteProject][]) {
      const begin = performance.now();
      const server = await project.dev();
      const response = await fetch(server.url);
      if (!response.ok) throw new Error(`${name}: ${response.status}\n${server.printed()}`);
      const ms = performance.now() - begin;
      await server.stop();
      if (round > 0) times[name].push(ms);
    }
  }
} finally {
  for (const project of Object.values(projects)) project.remove();
}

function change({ folder }: ViteProject, what: RegExp, to: string): void {
  const file = join(folder, "vite.config.mjs");
  const text = readFileSync(file, "utf8");
  if (!what.test(text)) throw new Error(`${file} has no ${what}`);
  writeFileSync(file, text.replace(what, to));
}

const median = (all: number[]) => all.sort((a, b) => a - b)[all.length >> 1] ?? Number.NaN;
const [ours, plain] = [median(times.sluice), median(times.plain)];
console.log(`ready, median of ${rounds}: ${Math.round(ours)} ms, without the broker ${Math.round(plain)} ms`);
console.log(`${(ours / plain).toFixed(2)} times`);
