import type { Line } from "@sluice/harness/report";
import type { CaseResult } from "./case-result.ts";
import { DAMAGE_KINDS } from "./kinds.ts";

/** Describes the result of a case, for people. */
export function describeCase(number: number, each: CaseResult): string {
  const { target, kind, done, missing, again, listed, lines, violations } = each;
  const object = target.kind === "queue" ? target.name : "the Directory";
  const reported =
    [...listed, ...(lines.length > 0 ? [`${lines.length} line(s)`] : [])].join(", ") || "nothing";
  return [
    `  ${number}  ${object}: ${kind} (${done}): ${missing} missing, ${again} again; reported: ${reported}`,
    ...lines.slice(0, 2).map((line) => `       printed: ${line}`),
    ...violations.map((text) => `       violation: ${text}`),
  ].join("\n");
}

/** The figures of many cases. */
export function damageLines(cases: readonly CaseResult[]): Line[] {
  const count = (holds: (each: CaseResult) => boolean) => cases.filter(holds).length;
  const sum = (of: (each: CaseResult) => number) => cases.reduce((total, each) => total + of(each), 0);
  const isHarmed = (each: CaseResult) => each.missing + each.again > 0;
  const isReported = ({ listed, lines }: CaseResult) => listed.length + lines.length > 0;
  return [
    ["cases", cases.length],
    [
      "  of which cost or repeated messages, each reported",
      count((each) => isHarmed(each) && isReported(each)),
    ],
    ["  of which cost nothing and were reported", count((each) => !isHarmed(each) && isReported(each))],
    ["  of which cost nothing and were not noticed", count((each) => !isHarmed(each) && !isReported(each))],
    ["  of which were the Directory", count(({ target }) => target.kind === "directory")],
    ["messages owed, acknowledged before the damage", sum(({ owed }) => owed)],
    ["  delivered", sum(({ delivered }) => delivered)],
    ["  missing in damaged queues", sum(({ missing }) => missing)],
    ["settled messages delivered again in damaged queues", sum(({ again }) => again)],
    ...DAMAGE_KINDS.map((kind): Line => [`cases of: ${kind}`, count((each) => each.kind === kind)]),
    ["violations (silent, understated, other queues touched)", sum(({ violations }) => violations.length)],
  ];
}
