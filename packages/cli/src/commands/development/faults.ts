import { table } from "@sluice/local/report/table";
import { type Fault, type FaultSetting, faultText } from "@sluice/protocol";
import type { BrokerClient } from "../../client/broker-client.ts";
import { allQueues, queuePath } from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";

export interface SetFaultOptions {
  readonly times?: number;
  /** Duration in ms. */
  readonly for?: number;
  readonly seed?: number;
}

/** `sluice faults list`. */
export async function listFaults(on: OnBroker, queue: string | null): Promise<number> {
  const found = queue === null ? await faultsOfAll(on.client) : await faultsOf(on.client, queue);
  const rows = found.map(({ queue: name, ...fault }) => [
    name,
    fault.kind,
    `${fault.times}`,
    faultText(fault),
  ]);
  if (rows.length === 0) answer(on, found, { words: "No faults are on." });
  else answer(on, found, { text: table(["queue", "fault", "deliveries", "what it does"], rows, on.printer) });
  return 0;
}

/** `sluice faults set`: switches a fault on and keeps those of other kinds. */
export async function setFault(
  on: OnBroker,
  queue: string,
  kind: string,
  options: SetFaultOptions,
): Promise<number> {
  const path = queuePath(queue, "/faults");
  const before = await on.client.admin<FaultSetting>({ path });
  const others = before.faults.filter((fault) => fault.kind !== kind);
  const body = {
    seed: options.seed ?? before.seed,
    faults: [...others, { kind, times: options.times, ms: options.for }],
  };
  const setting = await on.client.admin<FaultSetting>({ method: "PUT", path, body });
  const words = setting.faults
    .filter((fault) => fault.kind === kind)
    .map((fault) => `In ${nextDeliveries(fault)} of ${queue}: ${faultText(fault)} (${kind}).`);
  answer(on, setting, { words: words.join("") });
  return 0;
}

/** `sluice faults clear`. */
export async function clearFaults(on: OnBroker, queue: string): Promise<number> {
  const setting = await on.client.admin<FaultSetting>({
    method: "DELETE",
    path: queuePath(queue, "/faults"),
  });
  answer(on, setting, { words: `All faults of ${queue} are off.` });
  return 0;
}

function nextDeliveries({ times }: Fault): string {
  return times === 1 ? "the next delivery" : `the next ${times.toLocaleString("en")} deliveries`;
}

type FaultOfQueue = Fault & { readonly queue: string };

async function faultsOf(client: BrokerClient, queue: string): Promise<FaultOfQueue[]> {
  const { faults } = await client.admin<FaultSetting>({ path: queuePath(queue, "/faults") });
  return faults.map((fault) => ({ queue, ...fault }));
}

async function faultsOfAll(client: BrokerClient): Promise<FaultOfQueue[]> {
  const queues = await allQueues(client);
  return queues.flatMap(({ name, faults }) => faults.map((fault) => ({ queue: name, ...fault })));
}
