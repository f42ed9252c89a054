import type { QueueFigures } from "../cluster/queue-figures.ts";
import type { DamageLedger } from "./damage-ledger.ts";
import { judge, judgeDirectory, type Seen } from "./judge.ts";
import type { DamageKind } from "./kinds.ts";
import type { Target } from "./state-files.ts";

/** Result of one damaged state. */
export interface CaseResult {
  readonly kind: DamageKind;
  readonly target: Target;
  /** Description of the damage to the file. */
  readonly done: string;
  /** Messages that were acknowledged and not settled before, and how many of these came. */
  readonly owed: number;
  readonly delivered: number;
  /** Counts of the damaged queue's messages: owed and not delivered; settled before and delivered again. */
  readonly missing: number;
  readonly again: number;
  /** Kinds of damage that the admin API lists for the damaged queue. */
  readonly listed: readonly string[];
  /** Lines about damage that name the damaged object. */
  readonly lines: readonly string[];
  readonly violations: readonly string[];
}

/** Judges a case by what was seen of every queue. */
export function conclude(input: {
  readonly kind: DamageKind;
  readonly target: Target;
  readonly done: string;
  readonly ledger: DamageLedger;
  /** Result of a send to each queue after the damage. */
  readonly probes: ReadonlyMap<string, Seen["probe"]>;
  readonly figures: readonly QueueFigures[] | null;
  readonly lines: readonly string[];
}): CaseResult {
  const { kind, target, done, ledger, probes, figures, lines } = input;
  const seen = [...probes].map(
    ([queue, probe]): Seen => ({
      queue,
      probe,
      missing: ledger.missing(queue),
      again: ledger.again(queue),
      damage: figures?.find(({ name }) => name === queue)?.damage ?? null,
      lines: lines.filter((line) => line.startsWith(`Queue "${queue}"`)),
    }),
  );
  const of = target.kind === "queue" ? seen.find(({ queue }) => queue === target.name) : undefined;
  const owed = seen.reduce((sum, { queue }) => sum + ledger.owedBefore(queue), 0);
  const missing = seen.reduce((sum, { missing }) => sum + missing, 0);
  const directoryLines = lines.filter((line) => /directory/i.test(line));
  const violations = [...seen.flatMap((one) => judge(target, one)), ...ledger.violationTexts];
  if (target.kind === "directory") violations.push(...judgeDirectory(kind, figures, directoryLines));
  return {
    kind,
    target,
    done,
    owed,
    delivered: owed - missing,
    missing: of?.missing ?? 0,
    again: of?.again ?? 0,
    listed: of?.damage?.map((entry) => entry.kind) ?? [],
    lines: of?.lines ?? directoryLines,
    violations,
  };
}
