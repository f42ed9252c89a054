const RECEIVED_MAX = 10;

type Given = (bodies: readonly string[]) => void;

/** A list of texts, and those who wait for some. What was received is gone. */
export class BareQueue {
  #bodies: string[] = [];
  #from = 0;
  readonly #waiting = new Set<Given>();

  add(body: string): void {
    this.#bodies.push(body);
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#waiting.delete(first);
    first(this.#take());
  }

  /** Gives up to 10, and waits for one as long as is said. */
  receive(waitSeconds: number, given: Given): void {
    const bodies = this.#take();
    if (bodies.length > 0 || waitSeconds === 0) {
      given(bodies);
      return;
    }
    this.#waiting.add(given);
    setTimeout(() => {
      if (this.#waiting.delete(given)) given([]);
    }, 1_000 * waitSeconds);
  }

  #take(): readonly string[] {
    const taken = this.#bodies.slice(this.#from, this.#from + RECEIVED_MAX);
    this.#from += taken.length;
    if (this.#from === this.#bodies.length) {
      this.#bodies = [];
      this.#from = 0;
    }
    return taken;
  }
}
