import type { MessageCopy, PublishedMessage, PublishReply, PublishRequest } from "@sluice/protocol";
import type { TopicScenario } from "../history/scenario.ts";
import type { Simulation } from "../history/simulation.ts";
import type { Publication } from "../ledger/publications.ts";
import { packTagged } from "../ledger/tags.ts";
import { Network } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import { GROUPS } from "./producer.ts";

/** Times that a publisher publishes again what it has no answer to. */
const ATTEMPTS_MAX = 4;
const FILLER_BYTES_MAX = 400;

/** Messages of one publish, before an arrival gives their copies tags. */
type Draft = readonly { readonly idNumber: number; readonly deduplicationId: string | null }[];

/** Publishes to a topic, one message or many, and again when it gets no answer. */
export class Publisher {
  /** Publishes that are not given up and not taken yet, and those without an answer. */
  unfinished = 0;
  readonly #world: Simulation;
  readonly #topic: QueueObject;
  readonly #settings: TopicScenario;
  readonly #network: Network;
  #idNumbers = 0;

  constructor(world: Simulation, topic: QueueObject, settings: TopicScenario) {
    this.#world = world;
    this.#topic = topic;
    this.#settings = settings;
    this.#network = new Network(world);
  }

  /** Publishes until the topic says that it has it, or the publisher has enough of it. */
  publish(): void {
    this.#attempt(this.#draft(), 1);
  }

  /** Publishes until the topic has taken it: without faults no publish is in vain. */
  insist(): void {
    this.#attempt(this.#draft(), -Infinity);
  }

  #attempt(draft: Draft, attempt: number): void {
    const { loop, random } = this.#world;
    const { name } = this.#topic;
    this.unfinished += 1;
    this.#world.note("publish leaves", name, draft.length);
    this.#network.send<PublishReply>({
      arrives: (reply, refuse) => this.#arrive(draft, reply, refuse),
      answered: (reply) => {
        this.unfinished -= 1;
        this.#world.note("publish is answered", name, reply.ok ? 1 : 0);
        if (reply.ok === false)
          this.#world.fail("liveness", this.#topic, `a publish is refused: ${reply.cause}`);
      },
      failed: () => {
        this.#world.note("publish is answered", name, 0);
        if (attempt < ATTEMPTS_MAX && (attempt < 0 || random.chance(0.7))) {
          loop.after(random.pick([0, 100, 2_000]), () => {
            this.unfinished -= 1;
            this.#attempt(draft, attempt + 1);
          });
        } else this.unfinished -= 1;
      },
    });
  }

  #arrive(draft: Draft, reply: (answer: PublishReply) => void, refuse: (error: unknown) => void): void {
    const topic = this.#topic;
    const { request, publications } = this.#transmit(draft);
    this.#world.note("publish arrives", topic.name, publications[0]?.tags[0] ?? 0, draft.length);
    topic.callObject(
      (core) => core.topic.publish(request),
      (answer) => {
        if (answer.ok === true) {
          const taken = publications.filter((_, i) => answer.messages[i]?.duplicate === false);
          const dropped = publications.filter((_, i) => answer.messages[i]?.duplicate === true);
          this.#world.check("published", topic, { taken, dropped });
        }
        reply(answer);
      },
      refuse,
    );
  }

  /** Gives every copy of this arrival a tag, for every queue that subscribes now. */
  #transmit(draft: Draft): { request: PublishRequest; publications: Publication[] } {
    const { isFifo } = this.#settings;
    const publications: Publication[] = [];
    const messages = draft.map(({ idNumber, deduplicationId }): PublishedMessage => {
      const targets = this.#world.queues.filter(({ isSubscribed }) => isSubscribed);
      const firstTag = this.#world.takeTags(targets.length);
      const publication = { deduplicationId, tags: targets.map((_, i) => firstTag + i) };
      publications.push(publication);
      const groupId = `group ${idNumber % GROUPS}`;
      const copies = targets.map((target, i): MessageCopy => {
        const tag = firstTag + i;
        this.#world.copies.set(tag, {
          ...{ tag, target: target.name, publication },
          publishedMs: null,
        });
        const fillerBytes = this.#world.random.between(0, FILLER_BYTES_MAX);
        const isGrouped = target.definition.fifo !== undefined;
        const packed = packTagged([{ tag, idNumber, fillerBytes, groupId: isGrouped ? groupId : undefined }]);
        return { target: target.name, packed, sequenceNumberAt: null };
      });
      const messageId = idNumber.toString(16).padStart(32, "0");
      return { messageId, groupId: isFifo ? groupId : null, deduplicationId, copies };
    });
    return { request: { deduplicationScope: isFifo ? "topic" : null, messages }, publications };
  }

  #draft(): Draft {
    const { random } = this.#world;
    return Array.from({ length: random.pick([1, 1, 3, 10]) }, () => {
      this.#idNumbers += 1;
      // Now and then another message has the id of an earlier one.
      const id = random.chance(0.2) ? random.between(1, this.#idNumbers) : this.#idNumbers;
      return { idNumber: this.#idNumbers, deduplicationId: this.#settings.isFifo ? `publish ${id}` : null };
    });
  }
}
