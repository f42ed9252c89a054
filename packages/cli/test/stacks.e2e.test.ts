import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventView } from "@sluice/gateway/views";
import { stackLines, userPlace } from "@sluice/protocol/stack";
import { afterEach, expect, it } from "vitest";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

let lab: Lab;
let running: Running;
let url: string;
afterEach(async () => {
  await running.stop();
  lab.remove();
});

async function start(command: "dev" | "serve"): Promise<void> {
  lab = openLab("failing");
  const ports = await freePorts();
  url = `http://127.0.0.1:${ports.port}`;
  const options = [...ports.options, "--persist-to", "state"];
  running = sluice([command, ".", ...options], lab.folder, lab.env);
  await running.printed(/admin +http/);
  if (command === "serve") await running.printed(/data +/);
}

/** Latest event of a kind, if there is one. */
async function eventsOf(kind: string): Promise<readonly EventView[]> {
  const response = await fetch(`${url}/__sluice/api/queues/orders/history?kind=${kind}&max=1`);
  return ((await response.json()) as { events: EventView[] }).events;
}

/** Error of the latest delivery that failed, after another message; empty while there is none. */
async function nextError(): Promise<string> {
  await fetch(url);
  const events = await eventsOf("failed");
  return events[0]?.error ?? "";
}

/** Place of a text in a source, as stack traces have it. */
function placeOf(file: string, text: string): string {
  const lines = readFileSync(join(lab.folder, file), "utf8").split("\n");
  const row = lines.findIndex((line) => line.includes(text));
  return `${file}:${row + 1}:${(lines[row]?.indexOf(text) ?? 0) + 1}`;
}

const thrown = () => placeOf("src/payment.ts", "new PaymentError");
const cause = () => placeOf("src/payment.ts", 'new Error("the bank');

it.each(["dev", "serve"] as const)("sluice %s stores the places of the user's sources", async (command) => {
  await start(command);
  await expect.poll(async () => userPlace(await nextError())).toBe(thrown());
  const error = await nextError();
  const lines = stackLines(error);
  expect(lines.filter(({ kind }) => kind === "text").map(({ text }) => text)).toEqual([
    "PaymentError: 200 is too much",
    "Caused by: Error: the bank says no",
  ]);
  const queue = expect.stringMatching(/^src\/index\.ts:13:\d+$/);
  expect(lines.filter(({ kind }) => kind === "user").map(({ place }) => place)).toEqual([
    ...[thrown(), queue],
    ...[cause(), queue],
  ]);
  const own = lines.flatMap(({ kind, place }) => (kind === "own" ? [place] : []));
  expect(own.length).toBeGreaterThan(0);
  for (const place of own) expect(place).toMatch(/^sluice:.*consumer\/src\/[a-z-]+\.ts:\d+:\d+$/);
  const printed = (await eventsOf("printed"))[0]?.logs?.lines.map(({ text }) => userPlace(text));
  expect(printed).toEqual([placeOf("src/payment.ts", 'new Error("over')]);
  // The terminal has the same places, and no frames of ours.
  await running.printed(new RegExp(`at charge \\(file://${lab.folder}/${thrown()}\\)`));
  expect(running.output).not.toMatch(/run-delivery|queue-consumer/);
});

it("sluice dev stores the places of changed sources after a reload", { tags: "slow" }, async () => {
  await start("dev");
  const before = thrown();
  await expect.poll(async () => userPlace(await nextError())).toBe(before);
  const file = join(lab.folder, "src/payment.ts");
  writeFileSync(file, `// One line more,\n// and another one.\n${readFileSync(file, "utf8")}`);
  expect(thrown()).not.toBe(before);
  await expect.poll(() => nextError().then(userPlace, () => "while it is started again")).toBe(thrown());
  // What cannot be built is named in the same way.
  const { length: from } = running.output;
  writeFileSync(file, "const broken: = 1;\n");
  await running.printed(/^ +src\/payment\.ts:1:14:$/m, from);
});
