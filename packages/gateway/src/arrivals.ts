import { COMPANY_TURNS, turns } from "./microtasks.ts";

/**
 * Requests on their way to the calls that they make. Who has come as far waits for those that others begun at the same moment may
 * make, and for nobody where none is on its way: a turn of the microtask queue that brings nothing costs as much as any other.
 * Measured one request at a time, such turns were a tenth of all instructions.
 */
export class Arrivals {
  #onTheWay = 0;

  /** A request has come. Returns what says that it has come as far as to a call, or is answered without one: the first time counts. */
  expect(): () => void {
    this.#onTheWay += 1;
    let hasArrived = false;
    return () => {
      if (!hasArrived) this.#onTheWay -= 1;
      hasArrived = true;
    };
  }

  /** Resolves when all have arrived that are to be waited for. One that the platform has ended never does: not for longer than `COMPANY_TURNS`. */
  company(): Promise<void> {
    return turns(COMPANY_TURNS, () => this.#onTheWay === 0);
  }
}
