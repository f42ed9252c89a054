import { projectFolder } from "@sluice/project/test/project-folder";
import { afterEach, expect, it } from "vitest";
import { type Running, sluice } from "./running.ts";
import { ENV } from "./serving.ts";

const LINE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info {1}|warn {1}|error) \S/;
const WORKER = {
  "wrangler.json": JSON.stringify({
    name: "alone",
    main: "index.js",
    compatibility_date: "2026-01-01",
    queues: {
      producers: [{ binding: "JOBS", queue: "jobs" }],
      consumers: [{ queue: "jobs", max_batch_timeout: 0, max_retries: 0 }],
    },
  }),
  "index.js": `export default {
    async fetch(request, env) {
      await env.JOBS.send("a job");
      return new Response("sent");
    },
    queue({ messages }) {
      console.log("handles %s", messages[0].body);
      console.warn("careful");
      throw new TypeError("the vase is cursed");
    },
  };`,
};

let running: Running;
afterEach(() => running.stop());

/** Runs `sluice serve` in a folder until it listens, and returns its URL. */
async function serve(folder: string, ...args: string[]): Promise<string> {
  running = sluice(["serve", ...args, "--port", "0", "--persist-to", "data"], folder, ENV);
  const printed = await running.printed(/REST and admin API/);
  return /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? "";
}

interface Line {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly url?: string;
}

/** Parses all printed lines, each of which must be an object with a time, a level and a message. */
function linesOf(output: string): Line[] {
  return output
    .trimEnd()
    .split("\n")
    .map((text) => {
      const line = JSON.parse(text) as Line;
      expect(new Date(line.time).toISOString()).toBe(line.time);
      expect(line).toMatchObject({ level: expect.stringMatching(/^(debug|info|warn|error)$/) });
      expect(line.message).not.toBe("");
      return line;
    });
}

it("with --log-format json all lines of Workers, of their failures and of the broker are JSON with a level", async () => {
  const url = await serve(projectFolder(WORKER), ".", "--log-format", "json");
  await fetch(url);
  await running.printed(/QUEUE jobs 0\/1/);
  await running.printed(/vase is cursed/);
  await running.stop();
  const lines = linesOf(running.output);
  const levelOf = (text: string) => lines.find(({ message }) => message.includes(text))?.level;
  expect(levelOf("handles a job")).toBe("info");
  expect(levelOf("careful")).toBe("warn");
  expect(levelOf("TypeError: the vase is cursed")).toBe("error");
  expect(levelOf("QUEUE jobs 0/1")).toBe("info");
  expect(lines.filter((line) => line.url === url)).toHaveLength(1);
});

it("with --log-format json the broker alone prints nothing but JSON", async () => {
  const url = await serve(projectFolder({}), "--log-format", "json");
  await fetch(`${url}/__sluice/health`, { headers: { "x-forwarded-proto": "https" } });
  await running.printed(/A proxy before this broker/);
  await running.stop();
  const lines = linesOf(running.output);
  const [warning, ...ends] = lines.slice(-3);
  expect(warning).toMatchObject({ level: "warn", message: expect.stringMatching(/^A proxy before/) });
  expect(ends).toMatchObject([
    { level: "info", message: "SIGINT: sluice serve ends when it has answered the requests under way." },
    { level: "info", message: "sluice serve has ended." },
  ]);
});

it("log lines after the start have time and level, both the broker's and the Workers'", async () => {
  const url = await serve(projectFolder(WORKER), ".");
  await running.printed(/admin API.*\n/);
  const from = running.output.length;
  await fetch(url);
  await running.printed(/QUEUE jobs 0\/1.*\n/);
  await running.printed(/vase is cursed/);
  await running.stop();
  const after = running.output.slice(from).trimEnd().split("\n");
  // A stack trace continues on lines of its own.
  const begun = after.filter((line) => !/^\s/.test(line));
  expect(begun.length).toBeGreaterThanOrEqual(4);
  for (const line of begun) expect(line).toMatch(LINE);
});
