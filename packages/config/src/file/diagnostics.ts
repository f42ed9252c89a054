/** An error or a warning about a configuration file. */
export interface ConfigDiagnostic {
  readonly severity: "error" | "warning";
  /** Absolute path of the file it is about. */
  readonly file: string;
  /** 1-based; absent when no line of the file is at fault. */
  readonly line?: number;
  /** Path of the key it is about, spelled as Wrangler does: `env.staging.queues.consumers[0].max_retries`. */
  readonly key?: string;
  /** Description of the fault; Wrangler's own sentence where it has one. May hold several lines. */
  readonly text: string;
}

/**
 * Error for a configuration that cannot be used. It holds all diagnostics, warnings included, and its message lists
 * them: errors first, one per line, `file:line: text`.
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
 * Formats a diagnostic as compilers print it: `file:line: text`, or `file:line: warning: text`. Further lines of the
 * text are indented, so that a list of diagnostics stays readable.
 */
export function formatDiagnostic(diagnostic: ConfigDiagnostic): string {
  const severity = diagnostic.severity === "warning" ? "warning: " : "";
  const text = textWithKey(diagnostic).replaceAll("\n", "\n  ");
  return `${formatPlace(diagnostic.file, diagnostic.line)}: ${severity}${text}`;
}

/** Returns the text of a diagnostic, behind its key where neither the text nor a line says where the fault is. */
export function textWithKey({ line, key, text }: ConfigDiagnostic): string {
  return line !== undefined || key === undefined || text.includes(key) ? text : `${key}: ${text}`;
}

/** Formats a place as `file:line`, or as `file` where the line is unknown: terminals turn that into a link. */
export function formatPlace(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}

/** Makes an error about a place in a file, or about the file when the line is not known. */
export function errorAt(file: string, line: number | undefined, text: string): ConfigDiagnostic {
  return { severity: "error", file, ...(line === undefined ? {} : { line }), text };
}

function rank(diagnostic: ConfigDiagnostic): number {
  return diagnostic.severity === "error" ? 0 : 1;
}
