import { setTimeout as sleep } from "node:timers/promises";
import { type Lab, startLab } from "../lab/lab.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import { PAYLOAD_BYTES } from "../workload/payload.ts";
import { type Price, priceOf, queuesPrice, sqsPrice, type Usage } from "./prices.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";

/** How long messages may take to be handled once they are sent. */
const HANDLED_MS_MAX = 120_000;
const POLL_MS = 20;

/** The bill of a scenario, and what others ask for the same. USD per million messages. */
export interface Priced {
  readonly title: string;
  readonly usage: Usage;
  readonly price: Price;
  readonly cloudflareQueues: number;
  /** One message a request, and the ten that SQS allows. */
  readonly sqsSingle: number;
  readonly sqsBatched: number;
}

export async function measurePrices(isQuick: boolean, say: (line: string) => void): Promise<Priced[]> {
  const priced: Priced[] = [];
  for (const scenario of SCENARIOS) {
    say(scenario.title);
    const usage = await measureUsage(scenario, isQuick ? scenario.quickMessages : scenario.messages);
    const { retriesPerMessage } = scenario;
    priced.push({
      title: scenario.title,
      usage,
      price: priceOf(usage),
      cloudflareQueues: queuesPrice(PAYLOAD_BYTES, retriesPerMessage),
      sqsSingle: sqsPrice(PAYLOAD_BYTES, retriesPerMessage, 1),
      sqsBatched: sqsPrice(PAYLOAD_BYTES, retriesPerMessage, 10),
    });
  }
  return priced;
}

/** Runs a scenario on a new queue and takes the difference of the meters before and after. */
async function measureUsage(scenario: Scenario, messages: number): Promise<Usage> {
  const persistDir = await temporaryFolder("price");
  const lab = await startLab({ persistDir, consumer: scenario.consumer });
  try {
    // The first messages create the tables: that is paid once in a queue's life.
    await lab.tell({ kind: "fill", messages: 100, atOnce: 1, delaySeconds: 0 });
    await untilAcknowledged(lab, 100);
    await lab.tell({ kind: "behave", behaviour: scenario.behaviour });
    const before = await lab.tell({ kind: "bill" });
    await send(lab, scenario, messages);
    await untilAcknowledged(lab, messages);
    const after = await settledBill(lab);
    return {
      messages,
      rowsWritten: after.rowsWritten - before.rowsWritten,
      rowsRead: after.rowsRead - before.rowsRead,
      requests: after.requests - before.requests,
      alarmsSet: after.alarmsSet - before.alarmsSet,
      activeMs: after.activeMs - before.activeMs,
    };
  } finally {
    await lab.stop();
    await removeFolder(persistDir);
  }
}

async function send(lab: Lab, { sending }: Scenario, messages: number): Promise<void> {
  switch (sending.kind) {
    case "batches":
      await lab.tell({ kind: "fill", messages, atOnce: 1, delaySeconds: 0 });
      return;
    case "requests":
      await lab.tell({ kind: "send", requests: sending.requests, messages });
      return;
    case "trickle":
      for (let i = 0; i < messages; i++) {
        if (i > 0) await sleep(sending.everyMs);
        await lab.tell({ kind: "send", requests: 1, messages: 1 });
      }
  }
}

async function untilAcknowledged(lab: Lab, messages: number): Promise<void> {
  const deadlineMs = Date.now() + HANDLED_MS_MAX;
  while (Date.now() < deadlineMs) {
    const { acknowledged } = await lab.tell({ kind: "handled" });
    if (acknowledged >= messages) return;
    await sleep(POLL_MS);
  }
  throw new Error(`${messages} messages were not handled within ${HANDLED_MS_MAX / 1000} s`);
}

/** The bill once the last acknowledgement is written too: it comes after the handler. */
async function settledBill(lab: Lab) {
  for (let last = await lab.tell({ kind: "bill" }); ; ) {
    await sleep(10 * POLL_MS);
    const bill = await lab.tell({ kind: "bill" });
    if (bill.rowsWritten === last.rowsWritten) return bill;
    last = bill;
  }
}
