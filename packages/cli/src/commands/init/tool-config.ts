import { parse } from "@babel/parser";

/** Calls in the configuration of a tool whose options are to go through `sluice()`. */
export interface WrappedCall {
  /** Modules that export the function, each under the same name. */
  readonly from: readonly string[];
  readonly name: string;
  /** Module of our `sluice`, and what that is called where the configuration has something else of that name. */
  readonly ours: string;
  readonly alias: string;
  /** Why a call cannot be wrapped, by its source; `null` if it can. */
  refuse?(call: string): string | null;
}

/** Outcome of wrapping the calls in a configuration. */
export type Wrapping =
  /** The function is not imported there. */
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

/**
 * Puts `sluice()` around the options of each call, with the import that it needs: a configuration of several projects
 * has a call for each. The rest stays as it is written.
 */
export function wrapCalls(text: string, tool: WrappedCall): Wrapping {
  if (!tool.from.some((module) => text.includes(module))) return { kind: "absent" };
  const body = programOf(text);
  if (body === null) return { kind: "by-hand", why: "it does not parse" };
  const imports = body.filter((node): node is Import => node.type === "ImportDeclaration");
  const imported = imports.find(({ source }) => source.value === tool.ours);
  const known = imported && localName(imported.specifiers, "sluice");
  // An import alone does nothing. What is imported in another form is taken to be used.
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
  const insertions = known === undefined ? [{ at: theirs.end, text: `${newlineOf(text)}${line}` }] : [];
  return { kind: "wrapped", text: wrapped(text, calls, ours, insertions) };
}

/** Finds the name that an import has in a configuration; `undefined` where it is not imported. */
function localName(specifiers: Import["specifiers"], name: string): string | undefined {
  return specifiers.find(({ imported }) => imported?.name === name)?.local.name;
}

/** `null` for what does not parse. */
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

function newlineOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** @param before what else is put in. */
function wrapped(text: string, calls: readonly Call[], ours: string, before: readonly Insertion[]): string {
  const insertions = [...before];
  for (const call of calls) {
    const [first, last] = [call.arguments[0], call.arguments.at(-1)];
    const [start, end] = first && last ? [first.start, last.end] : [call.end - 1, call.end - 1];
    insertions.push({ at: start, text: `${ours}(` }, { at: end, text: ")" });
  }
  // From the end on: what stands before keeps its place. Of two in one place the second one is made first.
  const inOrder = insertions.map((each, i) => ({ ...each, i })).sort((a, b) => b.at - a.at || b.i - a.i);
  return inOrder.reduce((all, { at, text }) => `${all.slice(0, at)}${text}${all.slice(at)}`, text);
}

/** An import in the manner of the one that it stands beside. */
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
