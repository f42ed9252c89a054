import { setTimeout as sleep } from "node:timers/promises";
import { type Bill, billOf, type Others, othersOf, type Sent, scaled, type Used } from "@sluice/prices";
import { type Lab, startLab } from "../lab/lab.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import type { Scenario } from "./scenarios.ts";

/** Time after which the last acknowledgements are committed, in ms: they come after their handlers. */
const SETTLED_MS = 1_000;
/**
 * Usage between two readings of the bill that comes of the readings: a call, a report that the queue is idle, and with
 * the next commit a report that it no longer is.
 */
const ASKED = { rowsWritten: 4, requests: 3 };

/** Usage of a queue's object for the messages of a scenario. */
export type Counted = Used & Sent;

/** The bill of a scenario, and the prices of others for the same, in USD per million messages. */
export interface Priced {
  readonly title: string;
  readonly counted: Counted;
  readonly price: Bill;
  readonly others: Others;
}

export async function measurePrices(
  scenarios: readonly Scenario[],
  isQuick: boolean,
  say: (line: string) => void,
): Promise<Priced[]> {
  const priced: Priced[] = [];
  for (const scenario of scenarios) {
    say(scenario.title);
    const messages = isQuick ? scenario.quickMessages : scenario.messages;
    const counted = await measureUsage(scenario, messages);
    priced.push({
      title: scenario.title,
      counted,
      price: scaled(billOf(counted), 1e6 / messages),
      others: scaled(othersOf(counted, "standard"), 1e6 / messages),
    });
  }
  return priced;
}

/** Runs a scenario on a new queue, and takes the difference of its usage before and after. */
async function measureUsage(scenario: Scenario, messages: number): Promise<Counted> {
  const persistDir = await temporaryFolder("price");
  const lab = await startLab({ persistDir, consumer: scenario.consumer });
  try {
    // The first messages create the tables: that is paid once in a queue's life.
    await lab.tell({ kind: "fill", messages: 100, atOnce: 1, delaySeconds: 0 });
    await lab.until("acknowledged", 100);
    await lab.tell({ kind: "behave", behaviour: scenario.behaviour });
    const before = await settledUsage(lab);
    await send(lab, scenario, messages);
    await lab.until("acknowledged", messages);
    const after = await settledUsage(lab);
    return {
      rowsWritten: after.rowsWritten - before.rowsWritten - ASKED.rowsWritten,
      rowsRead: after.rowsRead - before.rowsRead,
      requests: after.requests - before.requests - ASKED.requests,
      awakeMs: after.awakeMs - before.awakeMs,
      messages: after.messages - before.messages,
      messageBytes: after.messageBytes - before.messageBytes,
      messageChunks: after.messageChunks - before.messageChunks,
      deliveries: after.deliveries - before.deliveries,
    };
  } finally {
    await lab.stop();
    await removeFolder(persistDir);
  }
}

async function send(lab: Lab, { sending }: Scenario, messages: number): Promise<void> {
  switch (sending.kind) {
    case "batches":
      await lab.tell({ kind: "fill", messages, atOnce: 1, batchSize: sending.size, delaySeconds: 0 });
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

/** Reads the usage after the last acknowledgement is committed; waits for the report that the reading causes. */
async function settledUsage(lab: Lab) {
  await sleep(SETTLED_MS);
  const { usage } = await lab.tell({ kind: "bill" });
  await sleep(SETTLED_MS);
  return usage;
}
