import { once } from "node:events";
import { Worker } from "node:worker_threads";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, describe, expect, it } from "vitest";
import { residentBytes, Strangers } from "./hostile-load.ts";
import { type Running, sluice } from "./running.ts";
import { ENV, temporaryFolder } from "./serving.ts";

const MEGABYTE = 1_000_000;
/**
 * Limits for the growth of the process over its idle size: in bytes, and as a share of what strangers send. The larger
 * limit counts, because garbage is collected later.
 */
const GROWTH_BYTES = 100 * MEGABYTE;
const GROWTH_SHARE = 1 / 8;
/** Least resident memory of the process in use, in bytes. A process that has just started may have less. */
const WORKING_BYTES = 150 * MEGABYTE;

/* Requests of strangers to a broker that asks for keys, which keeps its size and answers others meanwhile. */

const folder = temporaryFolder();
const port = await getPort();
let running: Running;

/** Header that names a key: of other requests, at most 64 KiB are read. */
const SIGNED = "Authorization: AWS4-HMAC-SHA256 Credential=AKIA/20200101/us-east-1/sqs/aws4_request\r\n";
const post = (bytes: number) =>
  `POST /__sluice/aws HTTP/1.1\r\nHost: a\r\n${SIGNED}X-Amz-Target: AmazonSQS.SendMessage\r\nContent-Length: ${bytes}\r\n\r\n`;
const chunked = (more: string) =>
  `POST /__sluice/aws HTTP/1.1\r\nHost: a\r\n${more}Transfer-Encoding: chunked\r\n\r\n1c9c380\r\n`;

/** Client in another thread, which does not wait for the load in this one. */
const other = new Worker(
  `const { parentPort } = require("node:worker_threads");
   parentPort.on("message", async (url) => {
     const signal = AbortSignal.timeout(20_000);
     const headers = { connection: "close" };
     parentPort.postMessage(await fetch(url, { headers, signal }).then(({ status }) => status, String));
   });`,
  { eval: true },
);
afterAll(() => other.terminate());

async function answerToOther(): Promise<unknown> {
  const answered = once(other, "message");
  other.postMessage(`http://127.0.0.1:${port}/__sluice/health`);
  return (await answered)[0];
}

describe.skipIf(process.platform !== "linux")("a broker that asks for keys", () => {
  it.each([
    ["20 bodies of 33 MB", 20, post(33_000_000), 30_000_000, "413"],
    ["20 bodies in chunks without end", 20, chunked(SIGNED), 29_000_000, "413"],
    ["200 bodies without a signature, in chunks without end", 200, chunked(""), 66_000, "413"],
    ["100 bodies that are almost as long as may be", 100, post(4_194_304), 4_000_000, "503"],
    ["800 short bodies without an end", 800, post(65_000), 64_000, "503"],
    ["500 heads of 900 KB", 500, "POST /__sluice/aws HTTP/1.1\r\nHost: a\r\nX: ", 900_000, "431"],
    ["4,000 heads of 60 KB without an end", 4_000, "GET / HTTP/1.1\r\nHost: a\r\nX: ", 60_000, "503"],
  ])("keeps its size under %s, and answers other clients", async (_, count, head, bytes, status) => {
    const env = { ...ENV, SLUICE_AWS_ACCESS_KEYS: "AKIA:secret" };
    running = sluice(["serve", "--port", `${port}`], folder, env);
    const strangers = new Strangers(port);
    try {
      await running.printed(/health, page without data/);
      expect(await answerToOther()).toBe(200);
      const idleBytes = residentBytes(running.pid);
      let mostBytes = idleBytes;
      const look = setInterval(() => {
        mostBytes = Math.max(mostBytes, residentBytes(running.pid));
      }, 50);
      for (let i = 0; i < count; i++) void strangers.say(head, bytes);
      // Once one of them is refused, the memory is at its peak.
      await expect.poll(() => strangers.statuses.get(status) ?? 0).toBeGreaterThan(0);
      expect(await answerToOther()).toBe(200);
      // Those that are not refused are held: nothing more of them is read then.
      let taken = -1;
      const isQuiet = () => {
        const before = taken;
        taken = strangers.taken + strangers.ended;
        return taken === before;
      };
      await expect.poll(isQuiet, { interval: 500 }).toBe(true);
      expect(await answerToOther()).toBe(200);
      clearInterval(look);
      mostBytes = Math.max(mostBytes, residentBytes(running.pid));
      const limitBytes = Math.max(GROWTH_BYTES, GROWTH_SHARE * count * bytes);
      const grownBytes = mostBytes - Math.max(idleBytes, WORKING_BYTES);
      expect(Math.round(grownBytes / MEGABYTE)).toBeLessThan(limitBytes / MEGABYTE);
      expect(running.output).not.toMatch(/Error|failed/);
    } finally {
      strangers.destroy();
      await running.stop();
    }
  });
});
