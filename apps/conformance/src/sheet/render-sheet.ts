import type { Measured } from "../measure/measure.ts";
import type { TestReference } from "../references/find-tests.ts";
import { isReference, type Verdict } from "../scenario/row.ts";
import type { Coverage } from "../spec/coverage.ts";
import type { Section } from "./sections.ts";

interface SheetInput {
  readonly sections: readonly Section[];
  readonly measured: ReadonlyMap<string, Measured>;
  /** Tests that prove rows, by the rows' ids. */
  readonly tests: ReadonlyMap<string, readonly TestReference[]>;
  readonly coverage: Coverage;
  /** Versions of the measured programs, in words. */
  readonly versions: string;
}

/** Renders the sheet as Markdown. The same measurements give the same text. */
export function renderSheet({ sections, measured, tests, coverage, versions }: SheetInput): string {
  const rows = sections.flatMap((section) => section.rows);
  const count = (system: "sluice" | "miniflare", kind: Verdict["kind"]) =>
    rows.filter(({ id }) => measured.get(id)?.[system].kind === kind).length;
  const parts = [
    "# Conformance",
    "<!-- Written by `pnpm conformance`. A test fails when this file is not what was measured. -->",
    "What Cloudflare Queues does in production, and whether Miniflare's broker (`wrangler dev`) and Sluice " +
      "(`sluice dev`) " +
      "do the same. Each row is a scenario that runs in both, or a test of this repository.",
    table(
      ["", "same as production", "differs", "nothing of the kind"],
      [systemCounts("Sluice", "sluice", count), systemCounts("Miniflare", "miniflare", count)],
    ),
    `Of the ${coverage.covered.length + coverage.uncovered.length} things that are known of production ` +
      `([list](../apps/conformance/src/spec/spec-rows.txt)), ${coverage.covered.length} are proven below` +
      `${coverage.uncovered.length === 0 ? "" : `; not yet: ${coverage.uncovered.join(", ")}`}.`,
    `Measured with ${versions}. A verdict with † is not measured: it is what Miniflare's source code says. ` +
      "Production's behaviour is known from Cloudflare's documentation and from the source of the runtime and of " +
      "Wrangler, not measured.",
    "```sh\nnpx -y pnpm@12.21.0 conformance   # measures everything and writes this file\n```",
    ...sections.flatMap((section) => renderSection(section, measured, tests)),
  ];
  return `${parts.join("\n\n")}\n`;
}

function systemCounts(
  name: string,
  system: "sluice" | "miniflare",
  count: (system: "sluice" | "miniflare", kind: Verdict["kind"]) => number,
): string[] {
  return [name, ...(["yes", "differs", "no"] as const).map((kind) => `${count(system, kind)}`)];
}

function renderSection(
  { title, file, rows }: Section,
  measured: SheetInput["measured"],
  tests: SheetInput["tests"],
): string[] {
  const lines = rows.map((row) => {
    const verdicts = measured.get(row.id);
    if (verdicts === undefined) throw new Error(`${row.id} was not measured`);
    const isMeasured = !isReference(row);
    const mark = isMeasured ? "" : " †";
    const reason = row.reason === undefined ? "" : `. Why: ${row.reason}.`;
    return [
      row.production,
      cell(verdicts.miniflare, isMeasured, mark),
      cell(verdicts.sluice, isMeasured, "") + reason,
      isMeasured
        ? `[${row.id}](../apps/conformance/src/scenarios/${file})`
        : (tests.get(row.id) ?? []).map(linkTo).join("<br>"),
    ];
  });
  return [`## ${title}`, table(["Production", "Miniflare", "Sluice", "Test"], lines)];
}

/** Renders a verdict as a cell. An observation of a scenario is plain text; a verdict of a reference is Markdown. */
function cell(verdict: Verdict, isObserved: boolean, mark: string): string {
  if (verdict.kind === "yes") return `yes${mark}`;
  const words = isObserved ? `\`${verdict.observed}\`` : verdict.observed;
  return `**${verdict.kind}**${mark}${verdict.observed === "" ? "" : `: ${words}`}`;
}

function linkTo({ file, name }: TestReference): string {
  return `[${name.replaceAll("[", "\\[").replaceAll("]", "\\]")}](../${file})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text) => text.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}
