import type { BackupQueue, LeasedMessage } from "@sluice/gateway/views";
import {
  BATCH_BYTES_MAX,
  BATCH_MESSAGES_MAX,
  isFifoName,
  MESSAGE_BYTES_MAX,
  RETENTION_SECONDS_DEFAULT,
} from "@sluice/protocol";
import { type Patience, patiently } from "../../patience.ts";
import { differencesOf } from "../plan.ts";
import { messageBytes, type Sent, type Target, type TargetQueue } from "../target.ts";
import { isJson } from "./pulled.ts";
import { type CloudflareQueue, type CloudflareQueues, RefusedRequest } from "./queues-api.ts";
import { queueOf, settingLinesOf } from "./settings.ts";

/** Bytes of a batch reserved for metadata, which Cloudflare counts too: about 100 bytes a message. */
const METADATA_BYTES = 10_000;

/** A queue of Cloudflare to which messages are sent over HTTP. */
export class CloudflareTarget implements Target {
  readonly limits = { messages: BATCH_MESSAGES_MAX, size: BATCH_BYTES_MAX - METADATA_BYTES };
  readonly #api: CloudflareQueues;
  readonly #name: string;
  readonly #patience: Patience;
  #id = "";

  constructor(api: CloudflareQueues, name: string, patience: Patience) {
    this.#api = api;
    this.#name = name;
    this.#patience = patience;
  }

  async describe(queue: BackupQueue): Promise<TargetQueue> {
    const found = await patiently(this.#patience, () => this.#api.find(this.#name));
    return {
      place: this.#api.place,
      identity: found === null ? null : this.#api.identityOf(found),
      lines: settingLinesOf(queue),
      differences:
        found === null ? [] : differencesOf(settingLinesOf(queue), settingLinesOf(queueOf(found, null))),
      notCopied: [],
      notes: [
        "Cloudflare recognises no message that comes twice: one whose answer is lost, or that this command is killed with, can.",
        "Messages with attributes or a group stay, and so do bytes and V8: Cloudflare's API takes text and JSON alone.",
      ],
      refusal: isFifoName(queue.name)
        ? `${queue.name} is a FIFO queue, and Cloudflare has none: its messages would lose their order.`
        : null,
    };
  }

  async create(queue: BackupQueue): Promise<void> {
    const { queue_id } = await patiently(
      this.#patience,
      async (): Promise<CloudflareQueue> =>
        // Each try looks for the queue first: the try before may have created it.
        (await this.#api.find(this.#name)) ?? this.#api.create(this.#name, settingsOf(queue)),
    );
    this.#id = queue_id;
  }

  async send(messages: readonly LeasedMessage[]): Promise<readonly Sent[]> {
    const outcomes = new Map<LeasedMessage, Sent>();
    for (const message of messages) {
      const left = reasonToStay(message);
      if (left !== null) outcomes.set(message, { left });
    }
    const movable = messages.filter((message) => !outcomes.has(message));
    for (const [message, sent] of await this.#sendAll(movable)) outcomes.set(message, sent);
    return messages.map((message) => outcomes.get(message) ?? "again");
  }

  /** Sends messages together, and each alone if they are refused together. */
  async #sendAll(messages: readonly LeasedMessage[]): Promise<[LeasedMessage, Sent][]> {
    if (messages.length === 0) return [];
    try {
      const text = `[${messages.map(entryOf).join(",")}]`;
      await patiently(this.#patience, () => this.#api.sendBatch(this.#id, text));
      return messages.map((message) => [message, "sent"]);
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      const [only, another] = messages;
      if (only !== undefined && another === undefined) return [[only, { left: sentenceEnd(error.message) }]];
      const sent: [LeasedMessage, Sent][] = [];
      for (const message of messages) sent.push(...(await this.#sendAll([message])));
      return sent;
    }
  }
}

/** Returns the settings that differ from the defaults: a free account refuses the retention, also its default. */
export function settingsOf({
  settings,
}: Pick<BackupQueue, "settings">): NonNullable<CloudflareQueue["settings"]> {
  const { deliveryDelaySeconds: delay = 0, messageRetentionSeconds: retention = RETENTION_SECONDS_DEFAULT } =
    settings;
  return {
    ...(delay === 0 ? {} : { delivery_delay: delay }),
    ...(retention === RETENTION_SECONDS_DEFAULT ? {} : { message_retention_period: retention }),
  };
}

/** Makes the JSON of a message in a batch. A JSON body stays as it is, so that numbers keep all of their digits. */
function entryOf({ contentType, text = "" }: LeasedMessage): string {
  const body = contentType === "json" ? text : JSON.stringify(text);
  return `{"content_type":"${contentType}","body":${body}}`;
}

/** Says why Cloudflare's API cannot take a message; `null` if it can. */
export function reasonToStay(message: LeasedMessage): string | null {
  const { contentType, text, attributes, group } = message;
  if (attributes !== undefined || group !== undefined)
    return "Cloudflare keeps neither attributes nor groups";
  if (contentType !== "json" && contentType !== "text") return "Cloudflare's API takes text and JSON alone";
  if (text === undefined) return "their bodies are no text";
  if (contentType === "json" && !isJson(text)) return "their bodies are no JSON";
  return messageBytes(message) > MESSAGE_BYTES_MAX
    ? `Cloudflare takes ${MESSAGE_BYTES_MAX} bytes at most`
    : null;
}

function sentenceEnd(text: string): string {
  return text.replace(/\.$/, "");
}
