import type { QueueView } from "@sluice/gateway/views";
import { CliError, EXIT_USAGE } from "@sluice/project/errors";
import { plural } from "@sluice/protocol/words";
import {
  createQueue,
  pauseDelivery,
  type QueueChange,
  queueNamed,
  resumeDelivery,
  updateQueue,
} from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";

/** Settings of a command line, by Wrangler's names. */
export interface SettingsOptions {
  readonly deliveryDelaySecs?: number;
  readonly messageRetentionPeriodSecs?: number;
  /** Number of objects that keep the queue. Only an update has it. */
  readonly shards?: number;
}

/** `sluice queues create`: creates a queue. */
export async function create(on: OnBroker, name: string, options: SettingsOptions): Promise<number> {
  const queue = await createQueue(on.client, name, changeIn(options));
  const as = queue.isConfigured ? " as the configuration names it" : "";
  answer(on, queue, { words: `Created queue ${name}${as}${settingsText(queue)}.` });
  return 0;
}

/** `sluice queues update`: changes the named settings of a queue; others stay. */
export async function update(on: OnBroker, name: string, options: SettingsOptions): Promise<number> {
  const change = changeIn(options);
  if (Object.keys(change).length === 0) {
    throw new CliError(
      "Name what is to change: --delivery-delay-secs, --message-retention-period-secs, --shards.",
      EXIT_USAGE,
    );
  }
  const { shards } = options;
  if (shards !== undefined) {
    const { settings } = await queueNamed(on.client, name);
    if (settings.shards > shards) on.printer.warn(leavingText(settings.shards - shards));
  }
  const queue = await updateQueue(on.client, name, change);
  answer(on, queue, { words: `Queue ${name} is changed${settingsText(queue, shards !== undefined)}.` });
  return 0;
}

/** Says what is lost with shards that are removed. Their messages are delivered before. */
function leavingText(shards: number): string {
  const go = shards === 1 ? "goes when empty," : "go when empty, each";
  return `${plural(shards, "shard")} ${go} with its history and finished messages.`;
}

/** `sluice queues pause-delivery`: stops delivery; sends go on. */
export async function pause(on: OnBroker, name: string): Promise<number> {
  answer(on, await pauseDelivery(on.client, name), { words: `Paused delivery of ${name}. Sends go on.` });
  return 0;
}

/** `sluice queues resume-delivery`: starts delivery again. */
export async function resume(on: OnBroker, name: string): Promise<number> {
  answer(on, await resumeDelivery(on.client, name), { words: `Resumed delivery of ${name}.` });
  return 0;
}

function changeIn({ deliveryDelaySecs, messageRetentionPeriodSecs, shards }: SettingsOptions): QueueChange {
  return {
    ...(shards === undefined ? {} : { shards }),
    ...(deliveryDelaySecs === undefined ? {} : { deliveryDelaySeconds: deliveryDelaySecs }),
    ...(messageRetentionPeriodSecs === undefined
      ? {}
      : { messageRetentionSeconds: messageRetentionPeriodSecs }),
  };
}

/** @param namesOne whether the number of shards is named even if it is 1. */
function settingsText({ settings }: QueueView, namesOne = false): string {
  const { deliveryDelaySeconds, messageRetentionSeconds, shards } = settings;
  const times = `: a delivery delay of ${deliveryDelaySeconds} s, a retention of ${messageRetentionSeconds} s`;
  return shards === 1 && !namesOne ? times : `${times}, ${plural(shards, "shard")}`;
}
