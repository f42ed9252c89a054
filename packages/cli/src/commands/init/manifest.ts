import { applyEdits, modify, parse } from "jsonc-parser";

/** Members of a `package.json` that are read. */
export interface Manifest {
  readonly packageManager?: unknown;
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly devDependencies?: Readonly<Record<string, unknown>>;
}

/** Options of `wrangler dev` and `cf dev` that `sluice dev` has too. A script with others is not changed. */
const SHARED_OPTIONS: ReadonlySet<string> = new Set([
  "--port",
  "--ip",
  "--env",
  "--mode",
  "--persist-to",
  "--inspector-port",
]);
/** Command that runs a project's Worker in development. */
const DEV_COMMAND = /^(?:wrangler|cf) dev(?=\s|$)/;
/** Option by which Wrangler reads a `cloudflare.config.ts`, as `sluice dev` does without it. */
const NEW_CONFIG = /\s+--(?:x|experimental)-new-config\b/;
/** Scripts that run a project's Worker in development. */
const DEV_SCRIPTS = ["dev", "start"];

/** Parses a `package.json`; returns `null` for text that is no object of JSON. */
export function readManifest(text: string): Manifest | null {
  const manifest: unknown = parse(text);
  return typeof manifest === "object" && manifest !== null && !Array.isArray(manifest) ? manifest : null;
}

export function dependsOn({ dependencies, devDependencies }: Manifest, name: string): boolean {
  return dependencies?.[name] !== undefined || devDependencies?.[name] !== undefined;
}

/** Rewrites the scripts of a `package.json` to run `sluice dev`, with notes on what is left to do by hand. */
export function withDevScript(text: string, { scripts = {} }: Manifest): { text: string; notes: string[] } {
  const ofWrangler = DEV_SCRIPTS.filter((name) => DEV_COMMAND.test(String(scripts[name] ?? "")));
  const changed = ofWrangler.flatMap((name) => {
    const script = onSluice(String(scripts[name]));
    return script === null ? [] : [{ name, script }];
  });
  const unchanged = ofWrangler.filter((name) => !changed.some((each) => each.name === name));
  const notes = unchanged.map(
    (name) => `The script "${name}" has options that "sluice dev" takes after "--": see sluice dev --help.`,
  );
  if (ofWrangler.length > 0) {
    return { text: changed.reduce((all, { name, script }) => withScript(all, name, script), text), notes };
  }
  const { dev } = scripts;
  if (dev === undefined) return { text: withScript(text, "dev", "sluice dev"), notes };
  if (String(dev).includes("sluice dev")) return { text, notes };
  return {
    text,
    notes: [
      `The script "dev" runs something else (${dev}). Run the Workers with queue handlers beside it: sluice dev`,
    ],
  };
}

/** Rewrites a command line to `sluice dev`; returns `null` for one with other options, or with several commands. */
function onSluice(given: string): string | null {
  const script = given.replace(NEW_CONFIG, "");
  const options = script.match(/(?<=\s)-\S*/g) ?? [];
  const isKnown = options.every((option) => SHARED_OPTIONS.has(option.replace(/=.*/, "")));
  const isOneCommand = !/[&|;<>$`]/.test(script);
  return isKnown && isOneCommand ? script.replace(DEV_COMMAND, "sluice dev") : null;
}

/** Sets a script in the text and leaves all else as it is written. */
function withScript(text: string, name: string, script: string): string {
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? "  ";
  const formattingOptions = {
    insertSpaces: !indent.includes("\t"),
    tabSize: indent.includes("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
  return applyEdits(text, modify(text, ["scripts", name], script, { formattingOptions }));
}
