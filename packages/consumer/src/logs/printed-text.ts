import { LOG_LINE_UNITS_MAX } from "@sluice/protocol";
import { fittedStack } from "@sluice/protocol/stack";

/** Levels of nested objects, and members of each, that are written. */
const DEPTH_MAX = 4;
const MEMBERS_MAX = 100;
/** Causes of an error that are written. */
const CAUSES_MAX = 5;
/** Units of the stack of an error that are looked at. */
const STACK_UNITS_MAX = 20_000;
const CUT = "…";

const PLACEHOLDERS = /%[sdifjoOc%]/g;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/**
 * Writes the arguments of a call of the console about as it prints them, `LOG_LINE_UNITS_MAX` units at most. Calls no
 * getter and no method of theirs. A proxy or an error's own `stack` may still run code of the user's; what that throws
 * is caught.
 */
export function printedText(args: readonly unknown[]): string {
  const writer = new Writer();
  try {
    writeArguments(writer, args);
  } catch {
    writer.write("[cannot be shown]");
  }
  return writer.text;
}

/** Text of limited length. */
class Writer {
  text = "";

  write(text: string): void {
    if (this.isFull) return;
    const room = LOG_LINE_UNITS_MAX - this.text.length;
    this.text += text.length <= room ? text : `${text.slice(0, room - CUT.length)}${CUT}`;
  }

  /** Writes an error with its stack: the frames of the user's code have the room of all others. */
  writeError(error: Error): void {
    this.write(fittedStack(errorText(error), LOG_LINE_UNITS_MAX - this.text.length));
  }

  get isFull(): boolean {
    return this.text.length >= LOG_LINE_UNITS_MAX;
  }
}

function writeArguments(writer: Writer, args: readonly unknown[]): void {
  const [first] = args;
  let next = 0;
  if (typeof first === "string" && args.length > 1) {
    next = 1;
    const format = first.slice(0, LOG_LINE_UNITS_MAX + 1);
    let end = 0;
    for (const { 0: placeholder, index } of format.matchAll(PLACEHOLDERS)) {
      if (placeholder !== "%%" && next >= args.length) break;
      writer.write(format.slice(end, index));
      end = index + placeholder.length;
      if (placeholder === "%%") writer.write("%");
      else writePlaceholder(writer, placeholder, args[next++]);
    }
    writer.write(format.slice(end));
  }
  for (; next < args.length; next++) {
    if (next > 0) writer.write(" ");
    writeArgument(writer, args[next]);
  }
}

function writePlaceholder(writer: Writer, placeholder: string, value: unknown): void {
  const isNumeric = typeof value === "number" || typeof value === "string" || typeof value === "bigint";
  if (placeholder === "%d") writer.write(String(isNumeric ? Number(value) : NaN));
  else if (placeholder === "%i") writer.write(String(isNumeric ? Number.parseInt(String(value), 10) : NaN));
  else if (placeholder === "%f") writer.write(String(isNumeric ? Number.parseFloat(String(value)) : NaN));
  // `%c` is for colours.
  else if (placeholder !== "%c") writeArgument(writer, value);
}

/** Writes an argument: a text as it is, anything else as within an object. */
function writeArgument(writer: Writer, value: unknown): void {
  if (typeof value === "string") writer.write(value);
  else writeValue(writer, value, []);
}

/** @param above the objects that hold the value, outermost first. */
function writeValue(writer: Writer, value: unknown, above: readonly object[]): void {
  if (writer.isFull) return;
  const text = textWithoutMembers(value, above);
  if (value instanceof Error && text === null) writer.writeError(value);
  else if (text !== null) writer.write(text);
  else writeMembers(writer, value as object, [...above, value as object]);
}

/** Returns the text of a value whose members are not written; `null` for any other one. */
function textWithoutMembers(value: unknown, above: readonly object[]): string | null {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `[Function: ${ownText(value, "name") || "(anonymous)"}]`;
  if (typeof value !== "object" || value === null) return String(value);
  if (above.includes(value)) return "[Circular]";
  if (value instanceof Error) return null;
  if (value instanceof Date) return dateText(value);
  if (value instanceof RegExp) return RegExp.prototype.toString.call(value);
  return above.length < DEPTH_MAX ? null : `[${classOf(value) ?? "Object"}]`;
}

function writeMembers(writer: Writer, value: object, above: readonly object[]): void {
  const name = classOf(value);
  if (Array.isArray(value)) {
    writeList(writer, "[]", Array.prototype.values.call(value), value.length, above);
  } else if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const { length } = value as Uint8Array;
    writer.write(`${name}(${length}) `);
    // The method of all kinds of typed arrays.
    writeList(writer, "[]", Uint8Array.prototype.values.call(value), length, above);
  } else if (value instanceof Map) {
    writer.write(`${name}(${value.size}) `);
    writeList(writer, "{}", Map.prototype.entries.call(value), value.size, above, " => ");
  } else if (value instanceof Set) {
    writer.write(`${name}(${value.size}) `);
    writeList(writer, "{}", Set.prototype.values.call(value), value.size, above);
  } else {
    if (name !== "Object") writer.write(`${name ?? "[Object: null prototype]"} `);
    const keys = Object.keys(value);
    writeList(writer, "{}", members(value, keys), keys.length, above, ": ");
  }
}

/**
 * Writes what an object holds.
 *
 * @param between text between the two parts of each member. Default: members have one part.
 */
function writeList(
  writer: Writer,
  [open, close]: string,
  list: Iterable<unknown>,
  length: number,
  above: readonly object[],
  between?: string,
): void {
  writer.write(`${open}`);
  let count = 0;
  for (const member of list) {
    if (writer.isFull) return;
    writer.write(count === 0 ? " " : ", ");
    if (count === MEMBERS_MAX) {
      writer.write(`${CUT} ${length - count} more`);
      break;
    }
    count += 1;
    if (between === undefined) {
      writeMember(writer, member, above);
    } else {
      const [key, value] = member as readonly [unknown, unknown];
      writeMember(writer, key, above);
      writer.write(between);
      writeMember(writer, value, above);
    }
  }
  writer.write(count === 0 ? `${close}` : ` ${close}`);
}

/** Text that is written as it is. */
class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function writeMember(writer: Writer, member: unknown, above: readonly object[]): void {
  if (member instanceof Verbatim) writer.write(member.text);
  else writeValue(writer, member, above);
}

function* members(value: object, keys: readonly string[]): Generator<readonly [Verbatim, unknown]> {
  for (const key of keys) {
    const described = Object.getOwnPropertyDescriptor(value, key);
    const shown = described?.get === undefined ? described?.value : new Verbatim("[Getter]");
    yield [new Verbatim(IDENTIFIER.test(key) ? key : quoted(key)), shown];
  }
}

function errorText(thrown: Error): string {
  const texts: string[] = [];
  for (
    let error: unknown = thrown;
    error instanceof Error && texts.length < CAUSES_MAX;
    error = error.cause
  ) {
    texts.push(String(error.stack ?? error).slice(0, STACK_UNITS_MAX));
  }
  return texts.join("\nCaused by: ");
}

function quoted(text: string): string {
  const shown = text.slice(0, LOG_LINE_UNITS_MAX);
  return `'${shown.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("'", "\\'")}'`;
}

function dateText(date: Date): string {
  const ms = Date.prototype.getTime.call(date);
  return Number.isNaN(ms) ? "Invalid Date" : new Date(ms).toISOString();
}

/** Returns the name of an object's class; `null` for one without. */
function classOf(value: object): string | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== "object" || prototype === null) return null;
  const made: unknown = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
  return (typeof made === "function" && ownText(made, "name")) || "Object";
}

/** Returns the text that an object has as a property of its own; an empty one for a getter. */
function ownText(value: object, key: string): string {
  const text: unknown = Object.getOwnPropertyDescriptor(value, key)?.value;
  return typeof text === "string" ? text : "";
}
