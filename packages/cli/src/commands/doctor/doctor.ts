import { stripVTControlCharacters } from "node:util";
import { type ConfigDiagnostic, ConfigError, formatDiagnostic, textWithKey } from "@sluice/config";
import type { Printer } from "@sluice/local/report/printer";
import { chosenEnvironment } from "@sluice/local/settings/environment";
import { CliError, EXIT_FAILED } from "@sluice/project/errors";
import { type Project, readProject } from "@sluice/project/read/project";
import { anyWrangler, takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { plural } from "@sluice/protocol/words";
import type { Surroundings } from "../../surroundings.ts";
import { diagnose } from "./diagnose.ts";
import { type Finding, formatFinding } from "./finding.ts";

export interface DoctorOptions {
  /** Folders or configuration files of Workers; none stands for the current folder. */
  readonly targets: readonly string[];
  readonly env?: string;
  readonly json?: boolean;
}

/**
 * `sluice doctor`: reads a project's configuration and reports errors, gaps, and differences from Cloudflare's own
 * queues. Needs no broker and writes nothing.
 *
 * @returns 1 if there is an error.
 */
export async function doctor(
  options: DoctorOptions,
  printer: Printer,
  { cwd, env }: Pick<Surroundings, "cwd" | "env">,
): Promise<number> {
  const { findings, summary } = await examine(
    options.targets,
    chosenEnvironment(options.env, env),
    cwd,
    (text) => printer.warn(text),
  );
  if (options.json === true) printer.print(JSON.stringify({ findings }, null, 2));
  else if (findings.length > 0) printer.print(findings.map((one) => lineOf(one, printer)).join("\n"));
  if (findings.length === 0) printer.warn(summary);
  return findings.some(({ severity }) => severity === "error") ? EXIT_FAILED : 0;
}

function lineOf(finding: Finding, { paint }: Printer): string {
  const line = formatFinding(finding);
  return finding.severity === "error" && paint !== undefined ? paint("red", line) : line;
}

async function examine(targets: readonly string[], env: string, cwd: string, warn: (text: string) => void) {
  try {
    takeWranglerOf([cwd, ...targets], anyWrangler(warn));
    const project = await readProject({ targets, command: "doctor", env, workingDirectory: cwd });
    const { workers, topology } = project;
    const what = `${plural(workers.length, "Worker")} and ${plural(Object.keys(topology.queues).length, "queue")}`;
    return {
      findings: [...diagnose(project), ...warningsOf(project)],
      summary: `Nothing is wrong with ${what}.`,
    };
  } catch (error) {
    if (error instanceof ConfigError) return { findings: error.diagnostics.map(ofDiagnostic), summary: "" };
    if (!(error instanceof CliError)) throw error;
    const finding: Finding = { severity: "error", code: "configuration", text: error.message };
    return { findings: [finding], summary: "" };
  }
}

/**
 * Turns the warnings of the configuration's two readers, ours and Wrangler's, into findings. A warning of both is in
 * the list once, in Wrangler's words.
 */
function warningsOf({ workers, warnings }: Project): Finding[] {
  const diagnostics = new Map(
    workers.flatMap(({ queues }) => queues.warnings).map((one) => [formatDiagnostic(one), one] as const),
  );
  return warnings.map((text) => {
    const diagnostic = diagnostics.get(text);
    if (diagnostic !== undefined) return ofDiagnostic(diagnostic);
    const plain = stripVTControlCharacters(text).trim();
    const [, file, line, said] = /^(\S.*?)(?::(\d+))?: warning: (.*)$/s.exec(plain) ?? [];
    if (file !== undefined && said !== undefined) {
      const at = line === undefined ? { file } : { file, line: Number(line) };
      return { severity: "warning", code: "configuration", ...at, text: said };
    }
    return { severity: "warning", code: "configuration", text: plain.replace(/^▲ \[WARNING\] /, "") };
  });
}

function ofDiagnostic(diagnostic: ConfigDiagnostic): Finding {
  const { severity, file, line } = diagnostic;
  const text = textWithKey(diagnostic);
  return { severity, code: "configuration", file, text, ...(line === undefined ? {} : { line }) };
}
