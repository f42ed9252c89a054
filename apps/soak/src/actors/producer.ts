import type { SendReply, SendRequest } from "@sluice/protocol";
import type { Scenario } from "../history/scenario.ts";
import type { Simulation } from "../history/simulation.ts";
import { packTagged, type TaggedMessage } from "../ledger/tags.ts";
import type { Transmission } from "../ledger/transmission.ts";
import { Network } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";

/** Times that a producer sends again what it has no answer to. */
const ATTEMPTS_MAX = 4;

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

/** Sends at random moments, one message or many, with and without delays, and again when it gets no answer. */
export class Producer {
  /** Requests without an answer, and those that are about to be repeated. */
  underWay = 0;
  /** Sends that are not given up and not stored yet. */
  unstored = 0;
  readonly #world: Simulation;
  readonly #network: Network;
  readonly #scenario: Scenario;
  #idNumbers = 0;

  constructor(world: Simulation, scenario: Scenario) {
    this.#world = world;
    this.#network = new Network(world);
    this.#scenario = scenario;
  }

  /** Draws messages and sends them until a queue says that it has them, or the producer has enough of it. */
  send(queue: QueueObject): void {
    this.#attempt(queue, this.#draft(), 1, () => {});
  }

  /** Sends until the queue has stored it: without faults no send is in vain. */
  insist(queue: QueueObject): void {
    this.unstored += 1;
    this.#attempt(queue, this.#draft(), -Infinity, () => {
      this.unstored -= 1;
    });
  }

  #attempt(queue: QueueObject, draft: Draft, attempt: number, stored: () => void): void {
    const { loop, random } = this.#world;
    this.underWay += 1;
    this.#world.note("send leaves a producer", queue.name, draft.count);
    this.#network.send<{ transmission: Transmission; reply: SendReply }>({
      arrives: (reply, refuse) => this.#arrive(queue, draft, reply, refuse),
      answered: ({ transmission, reply }) => {
        this.underWay -= 1;
        this.#world.note("send is answered", queue.name, transmission.firstTag, reply.ok ? 1 : 0);
        if (reply.ok) stored();
        else this.#world.fail("liveness", queue, `a send within all limits is refused: ${reply.cause}`);
      },
      failed: () => {
        this.underWay -= 1;
        this.#world.note("send is answered", queue.name, 0, 0);
        if (attempt < ATTEMPTS_MAX && (attempt < 0 || random.chance(0.7))) {
          const afterMs = random.pick([0, 100, 2_000]);
          this.underWay += 1;
          loop.after(afterMs, () => {
            this.underWay -= 1;
            this.#attempt(queue, draft, attempt + 1, stored);
          });
        }
      },
    });
  }

  #arrive(
    queue: QueueObject,
    draft: Draft,
    reply: (answer: { transmission: Transmission; reply: SendReply }) => void,
    refuse: (error: unknown) => void,
  ): void {
    queue.call(
      async (core) => {
        const { transmission, requests } = this.#transmit(queue, draft);
        this.#world.note("send arrives", queue.name, transmission.firstTag, transmission.count);
        return { transmission, reply: await core.send(requests) };
      },
      (answer) => {
        if (answer.reply.ok) this.#world.check("acknowledged", queue, answer.transmission);
        reply(answer);
      },
      refuse,
    );
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
