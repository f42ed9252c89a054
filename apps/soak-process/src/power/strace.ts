/** System call in a trace by strace (`-f -yy -ttt -xx`). */
export interface SystemCall {
  readonly name: string;
  /** Its arguments and its result, as strace writes them. */
  readonly text: string;
  /** Result; -1 for a call that has failed. */
  readonly result: number;
  /** Line on which it began. */
  readonly begunAt: number;
  /** Line on which it ended. */
  readonly endedAt: number;
  /** Time at which it began, in ms since 1970. */
  readonly atMs: number;
}

const LINE = /^(\d+) +(\d+\.\d+) (?:<\.\.\. (\w+) resumed>|(\w+)\()/;
const UNFINISHED = " <unfinished ...>";
const RESULT = /\) += (-?\d+|0x[0-9a-f]+|\?)(?=$|[ <])/g;
const RESULT_CHARS = 600;

/** Reads the lines of traces as calls, in the order of their ends. */
export class CallReader {
  readonly #unfinished = new Map<string, Omit<SystemCall, "result" | "endedAt">>();
  #line = 0;

  /** Yields the call that ends with this line, if one does. */
  *read(line: string): Generator<SystemCall> {
    const number = ++this.#line;
    const match = LINE.exec(line);
    if (match === null) return;
    const [{ length }, thread = "", seconds = "", resumed, name] = match;
    const text = line.slice(length);
    const begun =
      resumed === undefined
        ? { name: name ?? "", text: "", begunAt: number, atMs: Number(seconds) * 1_000 }
        : this.#unfinished.get(thread);
    this.#unfinished.delete(thread);
    // The call began before the trace.
    if (begun === undefined) return;
    if (text.endsWith(UNFINISHED)) {
      this.#unfinished.set(thread, { ...begun, text: begun.text + text.slice(0, -UNFINISHED.length) });
      return;
    }
    yield { ...begun, text: begun.text + text, result: resultIn(text), endedAt: number };
  }

  /** Ends a trace. Drops calls that have not ended in it: they may have had an effect or not. */
  end(): void {
    this.#unfinished.clear();
  }
}

function resultIn(text: string): number {
  const [...results] = text.slice(-RESULT_CHARS).matchAll(RESULT);
  const result = results.at(-1)?.[1];
  return result === undefined || result === "?" ? -1 : Number(result);
}

const DESCRIPTOR = /^(?:-?\d+|AT_FDCWD)<(.*?)>(?=[,)( ]|$)/;
const STRINGS = /"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g;

/** File, folder or connection of the descriptor in the first argument; `null` if that is no descriptor. */
export function fileOf(call: SystemCall): string | null {
  const name = DESCRIPTOR.exec(call.text)?.[1];
  return name === undefined ? null : decoded(name);
}

/** File of the descriptor that a call has returned; `null` if it has returned none. */
export function returnedFile(call: SystemCall): string | null {
  const name = /\) += \d+<(.*?)>$/.exec(call.text.slice(-4 * RESULT_CHARS))?.[1];
  return name === undefined ? null : decoded(name);
}

/** Paths among the arguments, each relative to the folder whose descriptor is before it. */
export function pathsOf(call: SystemCall): string[] {
  const paths = call.text.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:\\x[0-9a-f]{2})*)"/g);
  return [...paths].map(([, folder, name = ""]) => {
    const path = decoded(name);
    return path.startsWith("/") || folder === undefined ? path : `${decoded(folder)}/${path}`;
  });
}

/**
 * Bytes that a call has written.
 *
 * @throws Error if strace has left some out.
 */
export function bytesOf(call: SystemCall): Uint8Array {
  const strings = [...call.text.matchAll(STRINGS)];
  const bytes = Buffer.concat(strings.map(([, hex = ""]) => bytesIn(hex)));
  if (bytes.length < call.result) throw new Error(`strace left out bytes of ${call.name} of ${fileOf(call)}`);
  return bytes.subarray(0, call.result);
}

/** First `length` bytes that a call writes, as text. */
export function textOf(call: SystemCall, length: number): string {
  const hex = /"((?:\\x[0-9a-f]{2})*)/.exec(call.text.slice(0, 400 + 4 * length))?.[1] ?? "";
  return bytesIn(hex).subarray(0, length).toString("latin1");
}

/** Last argument of a call, which is a number. */
export function lastNumber(call: SystemCall): number {
  const end = call.text.slice(-RESULT_CHARS);
  return Number(/(\d+)\) += -?\d+(?: .*)?$/.exec(end)?.[1]);
}

function bytesIn(hex: string): Buffer {
  return Buffer.from(hex.replaceAll("\\x", ""), "hex");
}

function decoded(text: string): string {
  return text.replace(/(?:\\x[0-9a-f]{2})+/g, (hex) => bytesIn(hex).toString("utf8"));
}
