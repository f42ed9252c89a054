import { MemoryTopics } from "@sluice/broker/testing/memory-topics";
import { PackedIndex, type PublishRequest } from "@sluice/protocol";
import type { AwsAccess } from "../src/aws/caller.ts";
import { AwsRequest } from "../src/aws/request.ts";
import type { SnsPorts } from "../src/aws/sns/context.ts";
import { SNS_VERSION } from "../src/aws/sns/model.ts";
import { type SnsService, snsService } from "../src/aws/sns/routes.ts";
import { PublicAddress } from "../src/http/public-address.ts";
import { memoryAudit } from "./in-memory.ts";
import { KEPT_KEYS, type KeptKeyRights, keptKey, signedByKeptKey } from "./kept-key.ts";

const HOME = { region: "us-east-1", account: "000000000000" };
export const ENDPOINT = "http://localhost:8787/__sluice/aws";
/** A signature of the home region that is not checked. */
const SIGNED = {
  authorization:
    "AWS4-HMAC-SHA256 Credential=anybody/20261101/us-east-1/sns/aws4_request, " +
    "SignedHeaders=host;x-amz-date, Signature=0",
  "x-amz-date": "20261101T000000Z",
};

/** Answer to a call. */
export interface SnsAnswer {
  readonly status: number;
  readonly xml: string;
}

/** Message that went to a queue's object, with its body as text. */
export interface Enqueued {
  readonly queue: string;
  readonly body: string;
}

/** SNS over topics in memory, called in the Query protocol. What is published is noted and goes nowhere. */
export class SnsClient {
  readonly topics = new MemoryTopics();
  readonly audit = memoryAudit();
  readonly published: PublishRequest[] = [];
  /** Publishes that were refused because the topic is another by now. */
  outdated = 0;
  readonly enqueued: Enqueued[] = [];
  readonly purged: string[] = [];
  readonly service: SnsService;
  #sequence = 0;
  readonly #isSigned: boolean;

  /** @param key one that the broker keeps and that signs each call; `null` for none. */
  constructor(access: AwsAccess = { kind: "open", pages: () => null }, key: KeptKeyRights | null = null) {
    this.#isSigned = key !== null;
    const ports: SnsPorts = {
      topics: this.topics.rpc,
      audit: this.audit,
      authority: keptKey(key),
      topic: () => ({
        publish: async (object, request) => {
          const { version } = request;
          if (version !== undefined && version !== this.topics.versionOfObject(object)) {
            this.outdated += 1;
            return { ok: "outdated" };
          }
          this.published.push(request);
          const messages = request.messages.map(({ messageId }) => ({
            messageId,
            sequenceNumber: request.deduplicationScope === null ? null : String(++this.#sequence),
            duplicate: false,
          }));
          return { ok: true, messages };
        },
      }),
      queue: () => ({
        work: async (queue, { enqueue }) => {
          if (enqueue !== undefined) this.enqueued.push({ queue, body: textOf(enqueue.packed) });
          return { ok: true, enqueued: { ok: true, messages: [] } };
        },
        purge: async (queue) => {
          this.purged.push(queue);
          return { purged: 0 };
        },
      }),
      now: () => this.topics.nowMs,
    };
    this.service = snsService(
      "/__sluice/aws",
      new PublicAddress(null),
      ports,
      HOME,
      key === null ? access : KEPT_KEYS,
    );
  }

  /** Calls an action with parameters as they stand in a form. */
  post(
    action: string,
    parameters: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<SnsAnswer> {
    const body = new URLSearchParams({ Action: action, Version: SNS_VERSION, ...parameters });
    const init = { method: "POST", headers: { ...SIGNED, ...headers }, body };
    return this.#answer(new Request(`${ENDPOINT}/`, init));
  }

  /** Visits a link, without a signature. */
  visit(url: string): Promise<SnsAnswer> {
    return this.#answer(new Request(url));
  }

  /** The text of an element of what an action answers. Throws what it is refused with. */
  async call(
    action: string,
    parameters: Readonly<Record<string, string>> = {},
    element = "RequestId",
  ): Promise<string> {
    const { status, xml } = await this.post(action, parameters);
    if (status !== 200) throw new Error(`${action} was refused: ${xml}`);
    return textsIn(xml, element)[0] ?? "";
  }

  /** `CODE MESSAGE` of what an action is refused with. */
  async refusal(action: string, parameters: Readonly<Record<string, string>> = {}): Promise<string> {
    return refusalIn(await this.post(action, parameters));
  }

  async createTopic(Name: string, attributes: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.call("CreateTopic", { Name, ...entries("Attributes", attributes) }, "TopicArn");
  }

  /** The attributes that an action shows. */
  async attributes(action: string, parameters: Readonly<Record<string, string>>) {
    const { xml } = await this.post(action, parameters);
    const keys = textsIn(xml, "key");
    const values = [...xml.matchAll(/<value(?:\/>|>([^<]*)<\/value>)/g)].map(([, text]) => unescaped(text));
    return Object.fromEntries(keys.map((key, i) => [key, values[i] ?? ""]));
  }

  /** The bodies of the copies of what was published last, by target. */
  copies(): Record<string, string> {
    const copies = this.published.at(-1)?.messages.flatMap((message) => message.copies) ?? [];
    return Object.fromEntries(copies.map(({ target, packed }) => [target, textOf(packed)]));
  }

  async #answer(request: Request): Promise<SnsAnswer> {
    const asked = this.#isSigned
      ? await signedByKeptKey(request, "sns", this.topics.nowMs)
      : new AwsRequest(request.clone());
    const { status, body } = await this.service.answer(asked, () => {});
    return { status, xml: body };
  }
}

/** A map as it stands in a form. */
export function entries(name: string, map: Readonly<Record<string, string>>): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [i, [key, value]] of Object.entries(map).entries()) {
    parameters[`${name}.entry.${i + 1}.key`] = key;
    parameters[`${name}.entry.${i + 1}.value`] = value;
  }
  return parameters;
}

/** The texts of all elements of a name. */
export function textsIn(xml: string, element: string): string[] {
  const found = xml.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, "g"));
  return [...found].map(([, text]) => unescaped(text));
}

export function refusalIn({ status, xml }: SnsAnswer): string {
  if (status === 200) throw new Error(`it was not refused: ${xml}`);
  return `${status} ${textsIn(xml, "Code")[0]} ${textsIn(xml, "Message")[0]}`;
}

export function textOf(packed: Uint8Array): string {
  return new TextDecoder().decode(new PackedIndex(packed).message(0).body);
}

function unescaped(text = ""): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
