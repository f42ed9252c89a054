import type { World } from "../history/world.ts";

/** A request and its answer between two objects, or between an object and a Worker. */
export interface Exchange<Answer> {
  /** The request is there. Answer with `reply`, or with `refuse` when it cannot be carried out; or never. */
  arrives(reply: (answer: Answer) => void, refuse: (error: unknown) => void): void;
  answered(answer: Answer): void;
  failed(error: unknown): void;
}

const LOST = new Error("The call was cut off.");

/**
 * What carries calls. Each message takes its own time, so they overtake each other; requests and replies get lost, come
 * late and come twice. A caller always hears in the end that a call is lost, as it does on the platform.
 */
export class Network {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  send<Answer>(exchange: Exchange<Answer>): void {
    const { loop } = this.#world;
    const { rates } = this.#world;
    let isSettled = false;
    const settle = (how: () => void) => {
      if (isSettled) return;
      isSettled = true;
      how();
    };
    const travel = (ms: number, arrive: () => void) => {
      this.#world.travelling += 1;
      loop.after(ms, () => {
        this.#world.travelling -= 1;
        arrive();
      });
    };
    const lose = () =>
      travel(this.#world.random.pick([5, 1_000, 30_000]), () => settle(() => exchange.failed(LOST)));
    const reply = (answer: Answer) => {
      if (this.#world.fault(rates.lostReply, "reply lost")) {
        lose();
        return;
      }
      const deliver = () => settle(() => exchange.answered(answer));
      travel(this.#latency(), deliver);
      if (this.#world.fault(rates.doubled, "reply doubled")) travel(this.#latency(), deliver);
    };
    const refuse = (error: unknown) => travel(this.#latency(), () => settle(() => exchange.failed(error)));
    if (this.#world.fault(rates.lostRequest, "request lost")) {
      lose();
      return;
    }
    const arrive = () => exchange.arrives(reply, refuse);
    travel(this.#latency(), arrive);
    if (this.#world.fault(rates.doubled, "request doubled")) travel(this.#latency(), arrive);
  }

  #latency(): number {
    const { random, rates } = this.#world;
    if (this.#world.fault(rates.delayed, "request or reply delayed")) {
      return random.pick([200, 3_000, 40_000]);
    }
    return random.pick([0, 0, 1, 2, 5, 20]);
  }
}
