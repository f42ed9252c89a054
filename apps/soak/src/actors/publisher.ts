import type { MessageCopy, PublishedMessage, PublishReply, PublishRequest } from "@sluice/protocol";
import type { Simulation } from "../checkers/simulation.ts";
import type { Publication } from "../ledger/publications.ts";
import { packTagged } from "../ledger/tags.ts";
import { exchange } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import type { TopicScenario } from "../scenario/scenario.ts";
import { GROUPS } from "./producer.ts";
import { untilAnswered } from "./until-answered.ts";

const FILLER_BYTES_MAX = 400;

/** Messages of one publish, before an arrival gives their copies tags. */
type Draft = readonly { readonly idNumber: number; readonly deduplicationId: string | null }[];

/** Publishes to a topic, one message or many, and again when it gets no answer. */
export class Publisher {
  /** Publishes without an answer that are not given up. */
  underWay = 0;
  readonly #world: Simulation;
  readonly #topic: QueueObject;
  readonly #settings: TopicScenario;
  #idNumbers = 0;

  constructor(world: Simulation, topic: QueueObject, settings: TopicScenario) {
    this.#world = world;
    this.#topic = topic;
    this.#settings = settings;
  }

  /**
   * Publishes until the topic has stored it, or the publisher gives up. One that insists never gives up: without faults
   * every publish succeeds in the end.
   */
  async publish(insists: boolean): Promise<void> {
    this.underWay += 1;
    const draft = this.#draft();
    await untilAnswered(this.#world, insists, () => this.#attempt(draft));
    this.underWay -= 1;
  }

  async #attempt(draft: Draft): Promise<void> {
    const topic = this.#topic;
    this.#world.note("publish leaves", topic.name, draft.length);
    let reply: PublishReply | null = null;
    try {
      reply = await exchange(this.#world, () => this.#arrive(draft));
    } finally {
      this.#world.note("publish is answered", topic.name, reply?.ok === true ? 1 : 0);
    }
    if (reply.ok === false) this.#world.fail("liveness", topic, `a publish is refused: ${reply.cause}`);
  }

  async #arrive(draft: Draft): Promise<PublishReply> {
    const topic = this.#topic;
    const { request, publications } = this.#transmit(draft);
    this.#world.note("publish arrives", topic.name, publications[0]?.tags[0] ?? 0, draft.length);
    const reply = await topic.call<PublishReply>("publish", topic.name, request);
    if (reply.ok === true) {
      const taken = publications.filter((_, i) => reply.messages[i]?.duplicate === false);
      const dropped = publications.filter((_, i) => reply.messages[i]?.duplicate === true);
      this.#world.check("published", topic, { taken, dropped });
    }
    return reply;
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
        this.#world.copies.set(tag, { tag, target: target.name, publication, publishedMs: null });
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
      // Now and then a message has the id of an earlier one.
      const id = random.chance(0.2) ? random.between(1, this.#idNumbers) : this.#idNumbers;
      return { idNumber: this.#idNumbers, deduplicationId: this.#settings.isFifo ? `publish ${id}` : null };
    });
  }
}
