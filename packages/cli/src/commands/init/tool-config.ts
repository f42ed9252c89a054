import { parse } from "@babel/parser";

/** Calls in a tool's configuration whose options `sluice()` wraps. */
export interface WrappedCall {
  /** Modules that export the function under the same name. */
  readonly from: readonly string[];
  readonly name: string;
  /** Module of our `sluice`, and another name for where the configuration uses that one already. */
  readonly ours: string;
  readonly alias: string;
  /** Says why a call cannot be wrapped, by its source text; `null` if it can. */
  refuse?(call: string): string | null;
}

/** Outcome of wrapping the calls in a configuration. */
type Wrapping =
  /** The function is not imported. */
  | { readonly kind: "absent" }
  | { readonly kind: "done-before" }
  | { readonly kind: "wrapped"; readonly text: string }
  /** The call has a form that must be changed by hand. */
  | { readonly kind: "by-hand"; readonly why: string };

/** A part of the syntax tree, with its place in the text. */
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

/**
 * Puts `sluice()` around the options of each call, and adds its import. A configuration of several projects has several
 * calls. The rest of the text stays as it is.
 */
export function wrapCalls(text: string, tool: WrappedCall): Wrapping {
  if (!tool.from.some((module) => text.includes(module))) return { kind: "absent" };
  const body = programOf(text);
  if (body === null) return { kind: "by-hand", why: "it does not parse" };
  const imports = body.filter((node): node is Import => node.type === "ImportDeclaration");
  const imported = imports.find(({ source }) => source.value === tool.ours);
  const known = imported && localName(imported.specifiers, "sluice");
  // An unused import does nothing. One of another form counts as used.
  if (imported !== undefined && (known === undefined || callsOf(body, known).length > 0)) {
    return { kind: "done-before" };
  }
  const theirs = imports.find(({ source, specifiers }) => {
    return tool.from.includes(source.value) && localName(specifiers, tool.name) !== undefined;
  });
  const local = theirs && localName(theirs.specifiers, tool.name);
  if (theirs === undefined || local === undefined) return { kind: "absent" };
  const calls = callsOf(body, local);
  if (calls.length === 0) return { kind: "by-hand", why: `${local}() is not called there` };
  const ours = known ?? ["sluice", tool.alias].find((name) => !hasName(body, name));
  if (ours === undefined) return { kind: "by-hand", why: 'something else is called "sluice" there' };
  for (const { start, end } of calls) {
    const why = tool.refuse?.(text.slice(start, end)) ?? null;
    if (why !== null) return { kind: "by-hand", why };
  }
  const line = importLike(text, theirs, { local: ours, module: tool.ours });
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const insertions = known === undefined ? [{ at: theirs.end, text: `${newline}${line}` }] : [];
  return { kind: "wrapped", text: wrapped(text, calls, ours, insertions) };
}

/** Finds the local name of an import in a configuration; `undefined` where it is not imported. */
function localName(specifiers: Import["specifiers"], name: string): string | undefined {
  return specifiers.find(({ imported }) => imported?.name === name)?.local.name;
}

/** Parses a configuration; returns `null` where that fails. */
function programOf(text: string): readonly Node[] | null {
  try {
    return parse(text, { sourceType: "module", plugins: ["typescript"] }).program.body as readonly Node[];
  } catch {
    return null;
  }
}

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** @param before insertions besides those around the options. */
function wrapped(text: string, calls: readonly Call[], ours: string, before: readonly Insertion[]): string {
  const insertions = [...before];
  for (const call of calls) {
    const [first, last] = [call.arguments[0], call.arguments.at(-1)];
    const [start, end] = first && last ? [first.start, last.end] : [call.end - 1, call.end - 1];
    insertions.push({ at: start, text: `${ours}(` }, { at: end, text: ")" });
  }
  // The last place comes first, so that earlier places do not move. Of two at one place the second is inserted first.
  const inOrder = insertions.map((each, i) => ({ ...each, i })).sort((a, b) => b.at - a.at || b.i - a.i);
  return inOrder.reduce((all, { at, text }) => `${all.slice(0, at)}${text}${all.slice(at)}`, text);
}

/** Writes an import in the style of the one beside it. */
function importLike(
  text: string,
  { start, end }: Node,
  { local, module }: { readonly local: string; readonly module: string },
): string {
  const beside = text.slice(start, end);
  const quote = beside.includes("'") ? "'" : '"';
  const semicolon = beside.endsWith(";") ? ";" : "";
  const name = local === "sluice" ? local : `sluice as ${local}`;
  return `import { ${name} } from ${quote}${module}${quote}${semicolon}`;
}

function callsOf(value: unknown, callee: string): Call[] {
  if (Array.isArray(value)) return value.flatMap((each) => callsOf(each, callee));
  if (typeof value !== "object" || value === null) return [];
  const found = Object.values(value).flatMap((part) => callsOf(part, callee));
  return isCallOf(value, callee) ? [value, ...found] : found;
}

function hasName(value: unknown, name: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { type, name: its } = value as { readonly type?: unknown; readonly name?: unknown };
  return (type === "Identifier" && its === name) || Object.values(value).some((part) => hasName(part, name));
}

function isCallOf(node: object, name: string): node is Call {
  const { type, callee } = node as Partial<Call>;
  return type === "CallExpression" && callee?.type === "Identifier" && callee.name === name;
}
