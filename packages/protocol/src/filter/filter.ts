import { UNIT_MS } from "../unit-ms.ts";

/**
 * Term that messages are searched by: one grammar for the page, the admin API and the command line.
 *
 * | term | a message with |
 * |---|---|
 * | `state:ready` | that state: `ready`, `delayed` or `leased` |
 * | `id:3f2a` | an id that begins so; hyphens do not count |
 * | `body:"two words"`, `word` | that text in its body, in capitals or not |
 * | `error:"card declined"` | that text in the first line of its last error, in capitals or not |
 * | `attr.NAME:value` | an attribute of exactly that value |
 * | `attempts:>2` | so many deliveries: `>`, `>=`, `<`, `<=`, or the number |
 * | `age:>1h` | a send that is so long ago: `ms`, `s`, `m`, `h`, `d`, also `1h30m` |
 * | `from:QUEUE` | that queue as the one it was dead-lettered from |
 * | `group:G` | that message group |
 *
 * Terms stand apart by blanks, and a message has to fit all of them. A value with blanks or quotes in it stands in
 * double quotes, with a backslash before each `"` and `\` inside.
 */
export type FilterTerm =
  | { readonly field: "state"; readonly state: MessageState }
  /** Hexadecimal digits in small letters. */
  | { readonly field: "id"; readonly prefix: string }
  | { readonly field: "body"; readonly text: string }
  | { readonly field: "error"; readonly text: string }
  | { readonly field: "attr"; readonly name: string; readonly value: string }
  | { readonly field: "attempts"; readonly is: Comparison; readonly count: number }
  | { readonly field: "age"; readonly is: Comparison; readonly ms: number }
  | { readonly field: "from"; readonly queue: string }
  | { readonly field: "group"; readonly group: string };

/** A message fits when it fits every term; no terms fit every message. */
export type MessageFilter = readonly FilterTerm[];

/**
 * Where a message of a queue is.
 *
 * - `ready`: nothing about the message itself keeps it from being delivered.
 * - `delayed`: it is due later.
 * - `leased`: a consumer or a client has it.
 */
export const MESSAGE_STATES = ["ready", "delayed", "leased"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export type Comparison = ">" | ">=" | "<" | "<=" | "=";

/** Longest filter, in characters. */
export const FILTER_LENGTH_MAX = 1_000;

/** A filter, or what is wrong with it and what would be right. */
export type ParsedFilter =
  | { readonly ok: true; readonly filter: MessageFilter }
  | {
      readonly ok: false;
      /** Character of the text that the fault begins at: 1 is the first. */
      readonly column: number;
      /** For people, with what would be right; ends with a full stop. */
      readonly message: string;
    };

/** Reads a filter. A text of blanks is one without terms. */
export function parseFilter(text: string): ParsedFilter {
  try {
    if (text.length > FILTER_LENGTH_MAX) {
      throw new FilterFault(FILTER_LENGTH_MAX, `A filter has at most ${FILTER_LENGTH_MAX} characters.`);
    }
    return { ok: true, filter: tokensOf(text).map(termOf) };
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error;
    return { ok: false, column: error.at + 1, message: error.message };
  }
}

class FilterFault extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** A term as it is written: `key:value`, or a value alone. */
interface Token {
  readonly key: string | null;
  readonly keyAt: number;
  readonly value: string;
  readonly valueAt: number;
  readonly isQuoted: boolean;
}

const BLANK = /\s/;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (BLANK.test(text.charAt(at))) {
      at += 1;
      continue;
    }
    const keyAt = at;
    const [, key = null] = /^([^\s":]+):/.exec(text.slice(at)) ?? [];
    const valueAt = key === null ? at : at + key.length + 1;
    const isQuoted = text.charAt(valueAt) === '"';
    const { value, end } = isQuoted ? quoted(text, valueAt) : bare(text, valueAt);
    tokens.push({ key, keyAt, value, valueAt, isQuoted });
    at = end;
  }
  return tokens;
}

function bare(text: string, from: number): { value: string; end: number } {
  let end = from;
  while (end < text.length && !BLANK.test(text.charAt(end))) {
    if (text.charAt(end) === '"') {
      throw new FilterFault(end, `A text with quotes in it stands in quotes: "say \\"hello\\"".`);
    }
    end += 1;
  }
  return { value: text.slice(from, end), end };
}

function quoted(text: string, from: number): { value: string; end: number } {
  let value = "";
  for (let at = from + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') {
      if (at + 1 < text.length && !BLANK.test(text.charAt(at + 1))) {
        throw new FilterFault(at + 1, "A blank stands between two terms.");
      }
      return { value, end: at + 1 };
    }
    if (character === "\\") {
      at += 1;
      const escaped = text.charAt(at);
      if (escaped !== '"' && escaped !== "\\") {
        throw new FilterFault(at - 1, `A backslash stands before " or \\ only.`);
      }
      value += escaped;
    } else {
      value += character;
    }
  }
  throw new FilterFault(from, 'The quote is not closed: body:"two words".');
}

const ATTRIBUTE = "attr.";
const KEYS = "state:, id:, body:, error:, attr.NAME:, attempts:, age:, from: and group:";

function termOf(token: Token): FilterTerm {
  const { key, keyAt, value, valueAt } = token;
  if (key === null) {
    if (value === "") throw new FilterFault(valueAt, "There is no text to look for.");
    return { field: "body", text: value };
  }
  if (value === "") throw new FilterFault(valueAt, `"${key}:" needs a value${exampleOf(key)}.`);
  if (key.startsWith(ATTRIBUTE)) {
    const name = key.slice(ATTRIBUTE.length);
    if (name === "") throw new FilterFault(keyAt, `"attr." needs a name: attr.NAME:value.`);
    return { field: "attr", name, value };
  }
  switch (key) {
    case "state":
      return { field: "state", state: stateOf(token) };
    case "id":
      return { field: "id", prefix: idOf(token) };
    case "body":
      return { field: "body", text: value };
    case "error":
      return { field: "error", text: value };
    case "attempts":
      return attemptsOf(token);
    case "age":
      return ageOf(token);
    case "from":
      return { field: "from", queue: value };
    case "group":
      return { field: "group", group: value };
  }
  const quotedText = `"${key}:${value}"`.replace(/\\/g, "\\\\");
  throw new FilterFault(
    keyAt,
    `There is no "${key}:". There are ${KEYS}; a text with a colon stands in quotes: ${quotedText}.`,
  );
}

const EXAMPLES: Readonly<Record<string, string>> = {
  state: "state:ready",
  id: "id:3f2a",
  body: 'body:"two words"',
  error: 'error:"card declined"',
  attempts: "attempts:>2",
  age: "age:>1h",
  from: "from:QUEUE",
  group: "group:G",
};

function exampleOf(key: string): string {
  const example = Object.hasOwn(EXAMPLES, key) ? EXAMPLES[key] : undefined;
  if (example !== undefined) return `: ${example}`;
  return key.startsWith(ATTRIBUTE) ? ": attr.NAME:value" : "";
}

function stateOf({ value, valueAt }: Token): MessageState {
  const state = MESSAGE_STATES.find((name) => name === value);
  if (state !== undefined) return state;
  throw new FilterFault(valueAt, `"${value}" is no state: state:ready, state:delayed or state:leased.`);
}

function idOf({ value, valueAt }: Token): string {
  const digits = value.replaceAll("-", "").toLowerCase();
  if (/^[0-9a-f]{1,32}$/.test(digits)) return digits;
  throw new FilterFault(valueAt, "An id, or the beginning of one, is 1 to 32 hexadecimal digits: id:3f2a.");
}

function attemptsOf({ value, valueAt }: Token): FilterTerm {
  const [, is = "=", digits] = /^([<>]=?|=)?(\d{1,9})$/.exec(value) ?? [];
  if (digits === undefined) {
    throw new FilterFault(
      valueAt,
      "A number of deliveries is whole: attempts:2, attempts:>2 or attempts:<=2.",
    );
  }
  return { field: "attempts", is: is as Comparison, count: Number(digits) };
}

function ageOf({ value, valueAt }: Token): FilterTerm {
  const [, is, duration] = /^([<>]=?)((?:\d{1,9}(?:ms|[smhd]))+)$/.exec(value) ?? [];
  if (is === undefined || duration === undefined) {
    throw new FilterFault(
      valueAt,
      'An age is more or less than a duration of "ms", "s", "m", "h" and "d": age:>1h, age:<=1h30m.',
    );
  }
  const parts = [...duration.matchAll(/(\d+)(ms|[smhd])/g)];
  const ms = parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  return { field: "age", is: is as Comparison, ms };
}

/** Whether a number is as a term says. */
export function compares(value: number, is: Comparison, than: number): boolean {
  switch (is) {
    case ">":
      return value > than;
    case ">=":
      return value >= than;
    case "<":
      return value < than;
    case "<=":
      return value <= than;
    case "=":
      return value === than;
  }
}
