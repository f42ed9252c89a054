import { type EnqueueRequest, joinPacked, PackedIndex } from "@sluice/protocol";
import type { GroupOfMessages } from "./send-fifo.ts";

/** Places of a group's messages among those of a request. */
export type Places = readonly number[];

/** Messages of a request, to be sent in parts. */
export class RequestParts {
  readonly #index: PackedIndex;
  readonly #request: EnqueueRequest;

  /** Throws `PackedFormatError` for bytes that are no messages. */
  constructor(request: EnqueueRequest) {
    this.#index = new PackedIndex(request.packed);
    this.#request = request;
  }

  get count(): number {
    return this.#index.count;
  }

  /** Groups of the messages; those without one are a group. */
  get groups(): GroupOfMessages<Places>[] {
    const places = new Map<string, number[]>();
    for (let i = 0; i < this.#index.count; i++) {
      const { groupId = "" } = this.#index.extension(i);
      const known = places.get(groupId);
      if (known === undefined) places.set(groupId, [i]);
      else known.push(i);
    }
    return [...places].map(([group, messages]) => ({ group, messages }));
  }

  /** Makes the request for some of the messages. */
  requestOf(places: Places): EnqueueRequest {
    const { attempts } = this.#request;
    return {
      ...this.#request,
      packed: joinPacked(places.map((i) => this.#index.records(i, i + 1))),
      ...(attempts === undefined ? {} : { attempts: places.map((i) => attempts[i] ?? 0) }),
    };
  }
}

/** Places of the messages of several groups, in the order of the request. */
export function placesOf(groups: readonly GroupOfMessages<Places>[]): Places {
  return groups.flatMap(({ messages }) => messages).sort((a, b) => a - b);
}
