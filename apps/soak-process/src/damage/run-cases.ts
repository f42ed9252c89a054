import { rm } from "node:fs/promises";
import { Random } from "@sluice/harness/random";
import type { CaseResult } from "./case-result.ts";
import { DAMAGE_KINDS, type DamageKind } from "./kinds.ts";
import { databasesOf, type Target } from "./state-files.ts";

export interface DamageOptions {
  readonly cases: number;
  /** Number of the first one; 1 by default. */
  readonly from?: number;
  readonly seed: number;
  readonly onCase?: (number: number, result: CaseResult) => void;
}

/** What is damaged in a case, in which way. */
export interface Case<Base> {
  readonly base: Base;
  readonly databases: ReadonlyMap<string, string>;
  readonly kind: DamageKind;
  readonly target: Target;
  readonly random: Random;
}

/** What is damaged, and how a case is run. */
export interface CaseRunner<Base> {
  /** A state is made once for so many cases: to make one takes seconds. */
  readonly casesPerState: number;
  readonly targets: readonly Target[];
  makeBase(random: Random): Promise<Base>;
  run(drawn: Case<Base>): Promise<CaseResult>;
}

/** Runs cases one after the other. What a case does depends on the seed and the case's number alone. */
export async function runCases<Base extends { readonly folder: string }>(
  { cases, from = 1, seed, onCase }: DamageOptions,
  { casesPerState, targets, makeBase, run }: CaseRunner<Base>,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const end = from + cases;
  for (let number = from; number < end; ) {
    const state = Math.floor((number - 1) / casesPerState);
    const base = await makeBase(new Random(seed + state));
    try {
      const databases = await databasesOf(base.folder);
      for (; number < end && number <= (state + 1) * casesPerState; number++) {
        const result = await run({ base, databases, ...drawCase(targets, seed, number) });
        results.push(result);
        onCase?.(number, result);
      }
    } finally {
      await rm(base.folder, { recursive: true, force: true });
    }
  }
  return results;
}

/** Every kind of damage to every object in turn, whatever the seed. */
function drawCase(
  targets: readonly Target[],
  seed: number,
  number: number,
): Pick<Case<never>, "kind" | "target" | "random"> {
  const kind = DAMAGE_KINDS[(number - 1) % DAMAGE_KINDS.length];
  const target = targets[Math.floor((number - 1) / DAMAGE_KINDS.length) % targets.length];
  if (kind === undefined || target === undefined) throw new RangeError(`there is no case ${number}`);
  return { kind, target, random: new Random(Math.imul(seed + 1, 0x9e37_79b1) + number) };
}
