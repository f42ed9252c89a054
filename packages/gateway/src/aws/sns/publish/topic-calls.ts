import { type KeepAlive, SharedCalls } from "@sluice/coalesce";
import type {
  PublishedMessage,
  PublishOutcome,
  PublishReply,
  PublishRequest,
  TopicObjectRpc,
  TopicSnapshot,
  TopicsRpc,
} from "@sluice/protocol";
import { KnownTopics } from "./known-topics.ts";

/** Weight that one shared call takes along, about bytes; the next one takes the rest. */
export const CALL_WEIGHT_MAX = 2_000_000;

/** Objects that calls about topics go to. */
export interface TopicCallsPorts {
  readonly topics: Pick<TopicsRpc, "findTopic">;
  topic(topicObject: string): Pick<TopicObjectRpc, "publish">;
  now(): number;
}

/** Weight of a lookup in the directory: one answer serves any number of requests. */
const NO_WEIGHT = 0;

/**
 * Calls on behalf of publishes. Those of the same moment share one call to the directory and one to the topic's object.
 * A publish shares only calls that begin after it came, so the directory's answer has every change that was answered
 * before.
 */
export class TopicCalls {
  readonly known = new KnownTopics();
  readonly #ports: TopicCallsPorts;
  readonly #finds: SharedCalls<null, TopicSnapshot | null>;
  readonly #publishes: SharedCalls<readonly PublishedMessage[], PublishReply>;

  constructor(ports: TopicCallsPorts) {
    this.#ports = ports;
    const common = { weightMax: CALL_WEIGHT_MAX, now: () => ports.now() };
    this.#finds = new SharedCalls({ ...common, weightOf: () => NO_WEIGHT });
    this.#publishes = new SharedCalls({ ...common, weightOf: bytesOf });
  }

  /** Reads a topic with its subscriptions from the directory; `null` if there is none of that ARN. */
  find(arn: string, keepAlive: KeepAlive): Promise<TopicSnapshot | null> {
    const call = this.#finds.of(arn, async (askers) => {
      const found = await this.#ports.topics.findTopic(arn);
      if (found !== null) this.known.note(found);
      return askers.map(() => found);
    });
    return call.run(null, keepAlive);
  }

  /** Publishes the messages of one request. Those of several requests are stored in one commit. */
  publish(object: string, request: PublishRequest, keepAlive: KeepAlive): Promise<PublishReply> {
    const { deduplicationScope, messages, version } = request;
    // Publishes by different versions get different answers, and the scope of a topic can change while others publish.
    const key = `${version} ${deduplicationScope} ${object}`;
    const call = this.#publishes.of(key, async (parts) => {
      const all = {
        deduplicationScope,
        messages: parts.flat(),
        ...(version === undefined ? {} : { version }),
      };
      // Each call takes the object anew: it belongs to the request that makes the call.
      return repliesOf(await this.#ports.topic(object).publish(object, all), parts);
    });
    return call.run(messages, keepAlive);
  }
}

/** Splits a reply among the requests. A refusal, for overload or an older version, is for all of them. */
function repliesOf(reply: PublishReply, parts: readonly (readonly PublishedMessage[])[]): PublishReply[] {
  if (reply.ok !== true) return parts.map(() => reply);
  let from = 0;
  return parts.map((part) => {
    const messages: readonly PublishOutcome[] = reply.messages.slice(from, from + part.length);
    from += part.length;
    return { ok: true, messages };
  });
}

function bytesOf(messages: readonly PublishedMessage[]): number {
  let bytes = 0;
  for (const { copies } of messages) for (const { packed } of copies) bytes += packed.byteLength;
  return bytes;
}
