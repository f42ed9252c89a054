import { QUEUE_ERROR_CODES, type SendReply, type SendRequest } from "@sluice/protocol";
import type { Simulation } from "../checkers/simulation.ts";
import { packTagged, type TaggedMessage } from "../ledger/tags.ts";
import type { Transmission } from "../ledger/transmission.ts";
import { exchange } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { untilAnswered } from "./until-answered.ts";

/** Message groups of a FIFO queue. */
export const GROUPS = 3;

/** Messages of one send, before an arrival gives them tags. */
interface Draft {
  readonly parts: readonly {
    readonly delaySeconds: number | undefined;
    readonly messages: readonly Omit<TaggedMessage, "tag">[];
  }[];
  readonly count: number;
}

/** A send that arrived, and what the queue says of it. */
interface Sent {
  readonly transmission: Transmission;
  readonly reply: SendReply;
}

/** Sends at random moments, one message or many, with and without delays, and again when it gets no answer. */
export class Producer {
  /** Sends without an answer that are not given up. */
  underWay = 0;
  readonly #world: Simulation;
  readonly #scenario: Scenario;
  #idNumbers = 0;

  constructor(world: Simulation, scenario: Scenario) {
    this.#world = world;
    this.#scenario = scenario;
  }

  /**
   * Draws messages and sends them until the queue has stored them, or the producer gives up. One that insists never
   * gives up: without faults every send succeeds in the end.
   */
  async send(queue: QueueObject, insists: boolean): Promise<void> {
    this.underWay += 1;
    const draft = this.#draft();
    await untilAnswered(this.#world, insists, () => this.#attempt(queue, draft));
    this.underWay -= 1;
  }

  async #attempt(queue: QueueObject, draft: Draft): Promise<void> {
    const { name } = queue;
    this.#world.note("send leaves a producer", name, draft.count);
    let sent: Sent | null = null;
    try {
      sent = await exchange(this.#world, () => this.#arrive(queue, draft));
    } finally {
      this.#world.note(
        "send is answered",
        name,
        sent?.transmission.firstTag,
        sent?.reply.ok === true ? 1 : 0,
      );
    }
    if (sent.reply.ok) return;
    // The queue was deleted meanwhile: what is thrown makes the producer try again.
    if (sent.reply.code === QUEUE_ERROR_CODES.queueNotFound && queue.mayBeMissing)
      throw new Error("not found");
    this.#world.fail("liveness", queue, `a send within all limits is refused: ${sent.reply.cause}`);
  }

  async #arrive(queue: QueueObject, draft: Draft): Promise<Sent> {
    return queue.perform(async (_core, object) => {
      const { transmission, requests } = this.#transmit(queue, draft);
      this.#world.note("send arrives", queue.name, transmission.firstTag, transmission.count);
      const reply = await object.send(queue.name, requests);
      if (reply.ok) this.#world.check("acknowledged", queue, transmission);
      return { transmission, reply };
    });
  }

  /** Gives the messages the tags of this arrival. */
  #transmit(queue: QueueObject, draft: Draft): { transmission: Transmission; requests: SendRequest[] } {
    const firstTag = this.#world.takeTags(draft.count);
    const delaySeconds: number[] = [];
    let tag = firstTag;
    const requests = draft.parts.map((part): SendRequest => {
      const isFifo = queue.definition.fifo !== undefined;
      const packed = packTagged(
        part.messages.map((message) => {
          const groupId = isFifo ? `group ${message.idNumber % GROUPS}` : undefined;
          return { ...message, groupId, tag: tag++ };
        }),
      );
      for (const message of part.messages) {
        delaySeconds.push(message.delaySeconds ?? part.delaySeconds ?? queue.definition.deliveryDelaySeconds);
      }
      return part.delaySeconds === undefined ? { packed } : { packed, delaySeconds: part.delaySeconds };
    });
    const transmission = { queue: queue.index, firstTag, count: draft.count, delaySeconds };
    for (let i = 0; i < draft.count; i++) this.#world.transmissions.set(firstTag + i, transmission);
    return { transmission, requests };
  }

  #draft(): Draft {
    const { random } = this.#world;
    const { batchMax, fillerBytesMax } = this.#scenario;
    const parts = Array.from({ length: random.pick([1, 1, 1, 2]) }, () => ({
      delaySeconds: random.pick([undefined, undefined, undefined, 0, 2, 40]),
      messages: Array.from({ length: random.between(1, batchMax) }, () => ({
        idNumber: ++this.#idNumbers,
        fillerBytes: random.between(0, fillerBytesMax),
        delaySeconds: random.pick([undefined, undefined, undefined, undefined, 0, 1, 10, 300]),
      })),
    }));
    return { parts, count: parts.reduce((sum, { messages }) => sum + messages.length, 0) };
  }
}
