import {
  type KeepAlive,
  type PublishedMessage,
  type PublishOutcome,
  type PublishReply,
  type PublishRequest,
  SharedCall,
  SharedCalls,
  setTimer,
  type TopicObjectRpc,
  type TopicSnapshot,
  type TopicsRpc,
} from "@sluice/protocol";
import { CALL_WEIGHT_MAX } from "../../call-weight.ts";
import { KnownTopics } from "./known-topics.ts";

/** Where calls about topics go. */
export interface TopicCallsPorts {
  readonly topics: Pick<TopicsRpc, "findTopic">;
  topic(topicObject: string): Pick<TopicObjectRpc, "publish">;
  now(): number;
}

/** All ask the same: one answer serves however many there are. */
const NO_WEIGHT = 0;

/**
 * Calls on behalf of publishes: those of the same moment share one question to the directory and one call to the topic's
 * object. A publish goes along with calls that begin after it came and with no other, so what the directory says has every
 * change that was answered before; what it said earlier is kept, for the topic's object to say whether it is still right.
 */
export class TopicCalls {
  readonly known = new KnownTopics();
  readonly #ports: TopicCallsPorts;
  readonly #finds = new SharedCalls<null, TopicSnapshot | null>();
  readonly #publishes = new SharedCalls<readonly PublishedMessage[], PublishReply>();

  constructor(ports: TopicCallsPorts) {
    this.#ports = ports;
  }

  /** A topic with its subscriptions, as the directory knows it now; `null` if there is none of that ARN. */
  find(arn: string, keepAlive: KeepAlive): Promise<TopicSnapshot | null> {
    const begin = () =>
      new SharedCall<null, TopicSnapshot | null>({
        call: async (askers) => {
          const found = await this.#ports.topics.findTopic(arn);
          if (found !== null) this.known.note(found);
          return askers.map(() => found);
        },
        weightOf: () => NO_WEIGHT,
        weightMax: CALL_WEIGHT_MAX,
        now: () => this.#ports.now(),
        setTimer,
      });
    return this.#finds.of(arn, begin).run(null, keepAlive);
  }

  /** What is published together is taken together; each request learns of its own messages. */
  publish(object: string, request: PublishRequest, keepAlive: KeepAlive): Promise<PublishReply> {
    const { deduplicationScope, messages, version } = request;
    // Who goes by another version is answered otherwise, and the scope of a topic can be changed while others publish.
    const key = `${version} ${deduplicationScope} ${object}`;
    const begin = () =>
      new SharedCall<readonly PublishedMessage[], PublishReply>({
        // Each call takes the object anew: it belongs to the request that makes the call.
        call: async (parts) => {
          const all = {
            deduplicationScope,
            messages: parts.flat(),
            ...(version === undefined ? {} : { version }),
          };
          return repliesOf(await this.#ports.topic(object).publish(object, all), parts);
        },
        weightOf: bytesOf,
        weightMax: CALL_WEIGHT_MAX,
        now: () => this.#ports.now(),
        setTimer,
      });
    return this.#publishes.of(key, begin).run(messages, keepAlive);
  }
}

/** What is refused is refused to all: overload and an older version are the only reasons for it, and they are everybody's. */
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
