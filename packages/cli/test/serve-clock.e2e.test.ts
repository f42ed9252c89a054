import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import getPort from "@sluice/protocol/test/free-port";
import { expect, it, onTestFinished } from "vitest";
import { sluice } from "./running.ts";
import { CLIENT, ENV, temporaryFolder } from "./serving.ts";

const DAY_MS = 86_400_000;

/** Makes a process of Node.js read its time of day from a file, in ms. */
const SETTABLE = `
import { readFileSync } from "node:fs";
const now = Date.now;
Date.now = () => now() + Number(readFileSync(process.env.TEST_CLOCK_FILE, "utf8"));
`;

it("setting the clock by days deletes nothing, and neither ends nor prolongs a visibility timeout", async () => {
  const folder = temporaryFolder();
  const clock = join(folder, "clock");
  const set = (ms: number) => writeFileSync(clock, `${ms}`);
  set(0);
  const settable = join(folder, "settable.mjs");
  writeFileSync(settable, SETTABLE);
  const port = await getPort();
  const env = { ...ENV, TEST_CLOCK_FILE: clock, NODE_OPTIONS: `--import ${pathToFileURL(settable)}` };
  const start = async () => {
    const running = sluice(["serve", "--port", `${port}`], folder, env);
    onTestFinished(async () => void (await running.stop("SIGKILL")));
    await running.printed(/AWS_SECRET_ACCESS_KEY/);
    return running;
  };
  const client = new SQSClient({ endpoint: `http://127.0.0.1:${port}`, ...CLIENT });
  const receive = async (visibilitySeconds: number, waitSeconds = 0) => {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: visibilitySeconds,
        WaitTimeSeconds: waitSeconds,
      }),
    );
    return Messages.map(({ Body }) => Body).sort();
  };
  let running = await start();
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: "orders" }));
  const send = (MessageBody: string) => client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  await send("held");
  expect(await receive(600)).toEqual(["held"]);
  await send("waiting");

  set(5 * DAY_MS);
  await running.printed(/was set forward by 5 d/);
  expect(await receive(0)).toEqual(["waiting"]);

  // A day before the start by this clock: messages received there are visible again in time nevertheless.
  set(-DAY_MS);
  await running.printed(/was set back by 6 d/);
  expect(await receive(2)).toEqual(["waiting"]);
  expect(await receive(0)).toEqual([]);
  expect(await receive(0, 20)).toEqual(["waiting"]);

  // Neither an abrupt end nor a clock that went back meanwhile changes any of it.
  await running.stop("SIGKILL");
  set(-3 * DAY_MS);
  running = await start();
  expect(running.output).toMatch(/was set back by \d+ d/);
  expect(await receive(0)).toEqual(["waiting"]);
});
