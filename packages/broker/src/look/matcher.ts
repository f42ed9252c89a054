import { decodeAttributes } from "@sluice/aws";
import type { MessagePosition, MessageRange } from "@sluice/engine";
import {
  compares,
  type FilterTerm,
  type MessageExtension,
  type MessageFilter,
  type PackedIndex,
} from "@sluice/protocol";
import { decodeToken } from "../receive/message-token.ts";

const decoder = new TextDecoder();

/** Filter of a look. It asks first what the engine knows, because that needs no bytes of messages. */
export class Matcher {
  readonly #terms: MessageFilter;
  readonly #nowMs: number;
  /** Ids of the only messages that are looked for; `null` for all. */
  readonly #ids: ReadonlySet<string> | null;
  /** Places of the only messages that are looked for, from their refs; `null` for all. */
  readonly #places: ReadonlySet<string> | null;
  /** Positions of all messages that are looked for, in order, where refs alone name them; else `null`. */
  readonly positions: readonly MessagePosition[] | null;
  /** Whether matching reads bytes of messages. */
  readonly #readsBytes: boolean;

  /**
   * @param only ids, in hexadecimal with or without hyphens, and refs. A text that is neither matches no message.
   *   Default: every message.
   */
  constructor(queue: string, nowMs: number, filter: MessageFilter = [], only?: readonly string[]) {
    this.#terms = filter.map(comparable);
    this.#nowMs = nowMs;
    const positions = only?.map((name) => decodeToken(queue, "ref", name)) ?? [];
    const refs = positions.filter((position) => position !== null);
    const ids = only?.filter((_, i) => positions[i] === null) ?? [];
    this.#ids = only === undefined ? null : new Set(ids.map((id) => id.replaceAll("-", "").toLowerCase()));
    this.#places = only === undefined ? null : new Set(refs.map(placeOf));
    const isRefsOnly = only !== undefined && ids.length === 0;
    this.positions = isRefsOnly ? refs.sort((a, b) => a.segmentId - b.segmentId || a.index - b.index) : null;
    const inMemory: readonly FilterTerm["field"][] = ["state", "attempts", "group"];
    this.#readsBytes = ids.length > 0 || filter.some(({ field }) => !inMemory.includes(field));
  }

  /** Whether messages of a range may match, by their state and attempts. */
  fitsRange({ state, attempts }: MessageRange): boolean {
    return this.#terms.every((term) => {
      if (term.field === "state") return term.state === state;
      return term.field !== "attempts" || compares(attempts, term.is, term.count);
    });
  }

  /** Whether a message may match, by its place and group. None of its bytes are read. */
  fitsPlace(position: MessagePosition, group: string | null): boolean {
    if (this.#places !== null && this.#ids?.size === 0 && !this.#places.has(placeOf(position))) return false;
    return this.#terms.every((term) => term.field !== "group" || term.group === group);
  }

  /**
   * Whether a message matches, by its bytes, once `fitsRange` and `fitsPlace` have let it through.
   *
   * @param lastError looks up its last error. Called only for a filter of errors.
   */
  fits(position: MessagePosition, payload: PackedIndex, lastError: () => string | null): boolean {
    if (!this.#readsBytes) return true;
    const { index } = position;
    if (
      this.#ids !== null &&
      this.#places?.has(placeOf(position)) !== true &&
      !this.#ids.has(payload.id(index))
    ) {
      return false;
    }
    return this.#terms.every((term) => this.#fitsTerm(term, payload, index, lastError));
  }

  #fitsTerm(term: FilterTerm, payload: PackedIndex, index: number, lastError: () => string | null): boolean {
    switch (term.field) {
      case "id":
        return payload.id(index).startsWith(term.prefix);
      case "body":
        return decoder.decode(payload.body(index)).toLowerCase().includes(term.text);
      case "error":
        return lastError()?.toLowerCase().includes(term.text) ?? false;
      case "age":
        return compares(this.#nowMs - payload.timestampMs(index), term.is, term.ms);
      case "attr":
        return attributeOf(extensionOf(payload, index), term.name) === term.value;
      case "from":
        return sourceOf(extensionOf(payload, index)) === term.queue;
      default:
        return true;
    }
  }
}

/** Returns the queue that dead-lettered a message; `null` for none. */
export function sourceOf({ deadLetterSource, deadLetterOf }: MessageExtension): string | null {
  return deadLetterSource ?? deadLetterOf ?? null;
}

/** Reads what other dialects have stored with a message; empty if there is nothing that can be read. */
export function extensionOf(payload: PackedIndex, index: number): MessageExtension {
  return payload.hasExtension(index) && payload.hasReadableExtension(index) ? payload.extension(index) : {};
}

function attributeOf({ attributes: stored }: MessageExtension, name: string): string | undefined {
  if (stored === undefined) return undefined;
  const { attributes } = decodeAttributes(stored);
  return Object.hasOwn(attributes, name) ? attributes[name]?.StringValue : undefined;
}

/** Lowers the text of a term, since bodies and errors are searched without regard to case. */
function comparable(term: FilterTerm): FilterTerm {
  return term.field === "body" || term.field === "error" ? { ...term, text: term.text.toLowerCase() } : term;
}

function placeOf({ segmentId, index }: MessagePosition): string {
  return `${segmentId}/${index}`;
}
