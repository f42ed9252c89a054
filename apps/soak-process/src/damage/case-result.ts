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
  /** Messages of all queues that were acknowledged and not settled before the damage. */
  readonly owed: number;
  /** Number of owed messages that were delivered. */
  readonly delivered: number;
  /** Messages of the damaged queue that were owed and not delivered. */
  readonly missing: number;
  /** Messages of the damaged queue that were settled before and delivered again. */
  readonly again: number;
  /** Kinds of damage that the admin API lists for the damaged queue. */
  readonly listed: readonly string[];
  /** Lines about damage that name the damaged object. */
  readonly lines: readonly string[];
  readonly violations: readonly string[];
}

/** Makes a case's result from the observations of every queue. */
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
  const damaged = target.kind === "queue" ? seen.find(({ queue }) => queue === target.name) : undefined;
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
    missing: damaged?.missing ?? 0,
    again: damaged?.again ?? 0,
    listed: damaged?.damage?.map((entry) => entry.kind) ?? [],
    lines: damaged?.lines ?? directoryLines,
    violations,
  };
}
