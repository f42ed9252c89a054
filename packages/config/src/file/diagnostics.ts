/** One thing to say about a configuration file. */
export interface ConfigDiagnostic {
  readonly severity: "error" | "warning";
  /** Absolute path of the file it is about. */
  readonly file: string;
  /** 1-based; absent when nothing in the file can be pointed at. */
  readonly line?: number;
  /** Path of the key it is about, spelled as Wrangler does: `env.staging.queues.consumers[0].max_retries`. */
  readonly key?: string;
  /** Description of the fault; Wrangler's own sentence where it has one. May hold several lines. */
  readonly text: string;
}

/**
 * A configuration that cannot be used. Holds everything there is to say about it, warnings included, and its message
 * lists it all: errors first, one per line, `file:line: text`.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly diagnostics: readonly ConfigDiagnostic[];

  constructor(diagnostics: readonly ConfigDiagnostic[]) {
    const ordered = [...diagnostics].sort((a, b) => rank(a) - rank(b));
    super(ordered.map(formatDiagnostic).join("\n"));
    this.diagnostics = ordered;
  }
}

/**
 * A diagnostic as compilers print it: `file:line: text`, or `file:line: warning: text`. The further lines of a text are
 * indented, so that a list of diagnostics stays readable.
 */
export function formatDiagnostic(diagnostic: ConfigDiagnostic): string {
  const severity = diagnostic.severity === "warning" ? "warning: " : "";
  return `${formatPlace(diagnostic.file, diagnostic.line)}: ${severity}${diagnostic.text.replaceAll("\n", "\n  ")}`;
}

/** `file:line`, or `file` alone when the line is not known: what terminals and editors turn into a link. */
export function formatPlace(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}

/** An error about a place in a file, or about the file when the line is not known. */
export function errorAt(file: string, line: number | undefined, text: string): ConfigDiagnostic {
  return { severity: "error", file, ...(line === undefined ? {} : { line }), text };
}

function rank(diagnostic: ConfigDiagnostic): number {
  return diagnostic.severity === "error" ? 0 : 1;
}
