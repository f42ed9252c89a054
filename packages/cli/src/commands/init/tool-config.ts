import { parse } from "@babel/parser";

/** A call in the configuration of a tool whose options are to go through `sluice()`. */
export interface WrappedCall {
  /** Module and name of the function that is called. */
  readonly from: string;
  readonly name: string;
  /** Module of our `sluice`. */
  readonly ours: string;
  /** Why a call cannot be wrapped, by its source; `null` if it can. */
  refuse?(call: string): string | null;
}

/** What became of a configuration. */
export type Wrapping =
  /** The call is not there. */
  | { readonly kind: "absent" }
  | { readonly kind: "done-before" }
  | { readonly kind: "wrapped"; readonly text: string }
  /** It is there, in a form that has to be changed by hand. */
  | { readonly kind: "by-hand"; readonly why: string };

/** A part of the program, with its place in the text. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

interface Import extends Node {
  readonly source: { readonly value: string };
  readonly specifiers: readonly { readonly imported?: { name?: string }; readonly local: { name: string } }[];
}

interface Call extends Node {
  readonly callee: { readonly type: string; readonly name?: string };
  readonly arguments: readonly Node[];
}

/** Puts `sluice()` around the options of a call, with the import that it needs. The rest stays as it is written. */
export function wrapCall(text: string, { from, name, ours, refuse = () => null }: WrappedCall): Wrapping {
  if (!text.includes(from)) return { kind: "absent" };
  const body = programOf(text);
  if (body === null) return { kind: "by-hand", why: "it does not parse" };
  const imports = body.filter((node): node is Import => node.type === "ImportDeclaration");
  if (imports.some(({ source }) => source.value === ours)) return { kind: "done-before" };
  const theirs = imports.find(({ source }) => source.value === from);
  const local = theirs?.specifiers.find(({ imported }) => imported?.name === name)?.local.name;
  if (theirs === undefined || local === undefined) return { kind: "absent" };
  const calls = callsOf(body, local);
  const [call] = calls;
  if (call === undefined || calls.length > 1) {
    return { kind: "by-hand", why: `${local}() is called ${calls.length} times` };
  }
  if (/\bsluice\b/.test(text)) return { kind: "by-hand", why: 'something else is called "sluice" there' };
  const why = refuse(text.slice(call.start, call.end));
  if (why !== null) return { kind: "by-hand", why };
  return { kind: "wrapped", text: wrapped(text, call, theirs, ours) };
}

/** `null` for what does not parse. */
function programOf(text: string): readonly Node[] | null {
  try {
    return parse(text, { sourceType: "module", plugins: ["typescript"] }).program.body as readonly Node[];
  } catch {
    return null;
  }
}

/** From the end on: what stands before keeps its place. */
function wrapped(text: string, call: Call, theirs: Import, ours: string): string {
  const [first, last] = [call.arguments[0], call.arguments.at(-1)];
  const [start, end] = first && last ? [first.start, last.end] : [call.end - 1, call.end - 1];
  const wrapping = `${text.slice(0, start)}sluice(${text.slice(start, end)})${text.slice(end)}`;
  // In the manner of the import that it stands beside.
  const declaration = text.slice(theirs.start, theirs.end);
  const quote = declaration.includes("'") ? "'" : '"';
  const semicolon = declaration.endsWith(";") ? ";" : "";
  const line = `import { sluice } from ${quote}${ours}${quote}${semicolon}`;
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  return `${wrapping.slice(0, theirs.end)}${newline}${line}${wrapping.slice(theirs.end)}`;
}

function callsOf(value: unknown, callee: string): Call[] {
  if (Array.isArray(value)) return value.flatMap((each) => callsOf(each, callee));
  if (typeof value !== "object" || value === null) return [];
  const found = Object.values(value).flatMap((part) => callsOf(part, callee));
  return isCallOf(value, callee) ? [value, ...found] : found;
}

function isCallOf(node: object, name: string): node is Call {
  const { type, callee } = node as Partial<Call>;
  return type === "CallExpression" && callee?.type === "Identifier" && callee.name === name;
}
