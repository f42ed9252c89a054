import { UNIT_MS } from "../unit-ms.ts";

/**
 * Term that messages are searched by: one grammar for the page, the admin API and the command line.
 *
 * | term | a message with |
 * |---|---|
 * | `state:ready` | that state: `ready`, `delayed`, `leased` or `finished` |
 * | `id:3f2a`, `id:order-7` | an id that begins so, hyphens left out, or a body whose own field `id` is that |
 * | `body:"two words"`, `word` | that text in its body, in capitals or not |
 * | `error:"card declined"` | that text in the first line of its last error, in capitals or not |
 * | `errorGroup:"order # declined"` | a last error that differs from this one in numbers and ids alone, or not at all |
 * | `attr.NAME:value` | an attribute of exactly that value |
 * | `attempts:>2` | so many deliveries: `>`, `>=`, `<`, `<=`, or the number |
 * | `age:>1h` | a send that is so long ago: `ms`, `s`, `m`, `h`, `d`, also `1h30m` |
 * | `from:QUEUE` | that queue as the one it was dead-lettered from |
 * | `group:G` | that message group |
 * | `orderId:20042`, `customer.id:42`, `"orderId": 20042` | that field in its JSON or `v8` body, however deep |
 *
 * Terms stand apart by blanks, and a message has to fit all of them. A value with blanks or quotes in it stands in
 * double quotes, with a backslash before each `"` and `\` inside. A field that has the name of another term stands in
 * quotes, `"state":paid`, or behind `body.`, `body.state:paid`.
 */
export type FilterTerm =
  | { readonly field: "state"; readonly state: MessageState }
  | {
      readonly field: "id";
      /** Beginning of an id, in small hexadecimal digits without hyphens; any other text begins no id. */
      readonly prefix: string;
      /**
       * Value of the body's own member `id`, by which a message fits too: a text where `isQuoted`, else also a number.
       * Default: only the message's id counts.
       */
      readonly value?: string;
      readonly isQuoted?: boolean;
    }
  | { readonly field: "body"; readonly text: string }
  | { readonly field: "error"; readonly text: string }
  /** An error of the group, or its pattern. */
  | { readonly field: "errorGroup"; readonly like: string }
  | { readonly field: "attr"; readonly name: string; readonly value: string }
  | { readonly field: "attempts"; readonly is: Comparison; readonly count: number }
  | { readonly field: "age"; readonly is: Comparison; readonly ms: number }
  | { readonly field: "from"; readonly queue: string }
  | { readonly field: "group"; readonly group: string }
  /**
   * Member of an object in the body. In a dotted name each part but the first is a member of what the part before it
   * names. A quoted value is a text; any other one also a number, `true`, `false` or `null` that is written so.
   */
  | { readonly field: "json"; readonly name: string; readonly value: string; readonly isQuoted: boolean };

/** A message fits when it fits every term; no terms fit every message. */
export type MessageFilter = readonly FilterTerm[];

/**
 * Where a message of a queue is.
 *
 * - `ready`: nothing about the message itself keeps it from being delivered.
 * - `delayed`: it is due later.
 * - `leased`: a consumer or a client has it.
 * - `finished`: it has left the queue for good, and its body is kept for a while. Only a filter that asks for this
 *   state finds it.
 */
export const MESSAGE_STATES = ["ready", "delayed", "leased", "finished"] as const;
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

/** A term as it is written: `key:value`, `"key": value` as in JSON, or a value alone. */
interface Token {
  readonly key: string | null;
  readonly keyAt: number;
  readonly isKeyQuoted: boolean;
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
    const token = text.charAt(at) === '"' ? quotedToken(text, at) : bareToken(text, at);
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function bareToken(text: string, keyAt: number): Token & Ending {
  const [, key = null] = /^([^\s":]+):/.exec(text.slice(keyAt)) ?? [];
  const valueAt = key === null ? keyAt : keyAt + key.length + 1;
  return { key, keyAt, isKeyQuoted: false, valueAt, ...valueAfter(text, valueAt) };
}

/** Reads a quoted text, or a member as it is copied from JSON: with blanks behind its colon, a comma at its end. */
function quotedToken(text: string, at: number): Token & Ending {
  const { value: key, end } = quoted(text, at);
  const [colon] = /^:\s*/.exec(text.slice(end)) ?? [];
  if (colon === undefined) {
    checkBlank(text, end);
    return { key: null, keyAt: at, isKeyQuoted: false, value: key, valueAt: at, isQuoted: true, end };
  }
  const valueAt = end + colon.length;
  return { key, keyAt: at, isKeyQuoted: true, valueAt, ...valueAfter(text, valueAt, ",") };
}

interface Ending {
  /** Where the next term may begin. */
  readonly end: number;
}

function valueAfter(text: string, from: number, until = ""): Pick<Token, "value" | "isQuoted"> & Ending {
  const isQuoted = text.charAt(from) === '"';
  const { value, end } = isQuoted ? quoted(text, from) : bare(text, from, until);
  if (until !== "" && text.charAt(end) === until) return { value, isQuoted, end: end + 1 };
  if (isQuoted) checkBlank(text, end);
  return { value, isQuoted, end };
}

function checkBlank(text: string, at: number): void {
  if (at < text.length && !BLANK.test(text.charAt(at))) {
    throw new FilterFault(at, "A blank stands between two terms.");
  }
}

function bare(text: string, from: number, until: string): { value: string; end: number } {
  let end = from;
  while (end < text.length && !BLANK.test(text.charAt(end)) && text.charAt(end) !== until) {
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
    if (character === '"') return { value, end: at + 1 };
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
/** Beginning of a key that names a field of the body, also one that is called as another term is. */
const BODY_FIELD = "body.";

function termOf(token: Token): FilterTerm {
  const { key, keyAt, isKeyQuoted, value, valueAt, isQuoted } = token;
  if (key === null) {
    if (value === "") throw new FilterFault(valueAt, "There is no text to look for.");
    return { field: "body", text: value };
  }
  const named = isKeyQuoted ? null : namedTermOf(token, key);
  // An error may be an empty text.
  if (value === "" && !(isQuoted && (named === null || key === "errorGroup"))) {
    throw new FilterFault(valueAt, `"${key}:" needs a value${isKeyQuoted ? "" : exampleOf(key)}.`);
  }
  if (named !== null) return named();
  const name = !isKeyQuoted && key.startsWith(BODY_FIELD) ? key.slice(BODY_FIELD.length) : key;
  if (name === "") throw new FilterFault(keyAt, `A field needs a name: "NAME":value or body.NAME:value.`);
  if (name === key && !isKeyQuoted) checkField(token, key);
  return { field: "json", name, value, isQuoted };
}

/** Returns the reader of a term by its key; `null` for a key that has no meaning. */
function namedTermOf(token: Token, key: string): (() => FilterTerm) | null {
  const { keyAt, value } = token;
  if (key === "attr" || key.startsWith(ATTRIBUTE)) {
    const name = key.slice(ATTRIBUTE.length);
    if (name === "") throw new FilterFault(keyAt, `"attr." needs a name: attr.NAME:value.`);
    return () => ({ field: "attr", name, value });
  }
  switch (key) {
    case "state":
      return () => ({ field: "state", state: stateOf(token) });
    case "id":
      return () => ({ field: "id", prefix: idOf(token), value, isQuoted: token.isQuoted });
    case "body":
      return () => ({ field: "body", text: value });
    case "error":
      return () => ({ field: "error", text: value });
    case "errorGroup":
      return () => ({ field: "errorGroup", like: value });
    case "attempts":
      return () => attemptsOf(token);
    case "age":
      return () => ageOf(token);
    case "from":
      return () => ({ field: "from", queue: value });
    case "group":
      return () => ({ field: "group", group: value });
  }
  return null;
}

/** Refuses a key without quotes that was most likely meant as another term, or as a part of a text. */
function checkField(token: Token, key: string): void {
  const { keyAt, value, isQuoted } = token;
  const isMeant = (known: string) =>
    known === "id" ? ID_BEGINNING.test(plainId(value)) : isReadable({ ...token, key: known });
  const near = Object.keys(EXAMPLES).find((known) => isNear(key, known) && isMeant(known));
  const written = isQuoted ? `"${value}"` : value;
  if (near !== undefined) {
    const text =
      `There is no "${key}:". Did you mean ${near}:${written}? ` +
      `A field of the body that is called so stands in quotes: "${key}":${written}.`;
    throw new FilterFault(keyAt, text);
  }
  if (/^[\p{L}_$]/u.test(key) && !value.startsWith("//")) return;
  const text = `"${key}:${value}"`.replace(/\\/g, "\\\\");
  throw new FilterFault(keyAt, `There is no "${key}:". A text with a colon stands in quotes: ${text}.`);
}

/**
 * Whether a key is a known one but for capitals, or, where that has at least four letters, for one letter too many, too
 * few or wrong.
 */
function isNear(key: string, known: string): boolean {
  const [a, b] = [key.toLowerCase(), known];
  if (a === b) return true;
  if (b.length < 4) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const [restA, restB] = [a.slice(at), b.slice(at)];
  return restA.slice(1) === restB || restA === restB.slice(1) || restA.slice(1) === restB.slice(1);
}

/** Whether a token can be read as a term, if its key has a meaning. */
function isReadable(token: Token & { readonly key: string }): boolean {
  try {
    namedTermOf(token, token.key)?.();
    return true;
  } catch (error) {
    if (error instanceof FilterFault) return false;
    throw error;
  }
}

/** Keys that have a meaning, each with an example. */
const EXAMPLES: Readonly<Record<string, string>> = {
  state: "state:ready",
  id: "id:3f2a",
  body: 'body:"two words"',
  error: 'error:"card declined"',
  errorGroup: 'errorGroup:"order # declined"',
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
  throw new FilterFault(
    valueAt,
    `"${value}" is no state: state:ready, state:delayed, state:leased or state:finished.`,
  );
}

const ID_BEGINNING = /^[0-9a-f]{1,32}$/;

function idOf({ value }: Token): string {
  const digits = plainId(value);
  return ID_BEGINNING.test(digits) ? digits : value;
}

function plainId(value: string): string {
  return value.replaceAll("-", "").toLowerCase();
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

/** Whether `value` compares to `than` as a term says. */
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
