import type { AppliedCommit } from "../ledger/applied-commit.ts";
import { DeployedSettings } from "../platform/deployed-settings.ts";
import type { DirectoryObject } from "../platform/directory-object.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import { World, type WorldParts } from "../world/world.ts";
import type { Checker } from "./checker.ts";

type Hook = Exclude<keyof Checker, "property" | "accepted" | "changed">;
type HookArguments<Name extends Hook> = Parameters<NonNullable<Checker[Name]>>;

/** A world with its queues, its directory and the checkers that watch them. */
export class Simulation extends World {
  queues: readonly QueueObject[] = [];
  /** The directory, where there is one: without it settings come with the code. */
  directory: DirectoryObject | null = null;
  readonly deployed = new DeployedSettings();
  readonly #checkers: readonly Checker[];
  /** Checkers by the kind of moment that they look at: each looks at few kinds, and moments are many. */
  readonly #watching = new Map<Hook, readonly Checker[]>();

  constructor(parts: WorldParts, checkers: readonly Checker[]) {
    super(parts);
    this.#checkers = checkers;
  }

  queueNamed(name: string): QueueObject | undefined {
    return this.queues.find((queue) => queue.name === name);
  }

  /** Calls every checker that looks at this kind of moment; ends the history if one finds a mistake. */
  check<Name extends Hook>(name: Name, ...args: HookArguments<Name>): void {
    for (const checker of this.#watchersOf(name)) {
      if (name === "committed") this.#checkMessages(checker, ...(args as HookArguments<"committed">));
      const hook = checker[name] as ((...args: HookArguments<Name>) => string | undefined) | undefined;
      const text = hook?.(...args);
      if (text !== undefined) this.fail(checker.property, args[0], text);
    }
  }

  #watchersOf(name: Hook): readonly Checker[] {
    const known = this.#watching.get(name);
    if (known !== undefined) return known;
    const watching = this.#checkers.filter((checker) => {
      const { accepted, changed } = checker;
      return checker[name] !== undefined || (name === "committed" && (accepted ?? changed) !== undefined);
    });
    this.#watching.set(name, watching);
    return watching;
  }

  /** Calls a checker for each message that a commit has accepted or changed. */
  #checkMessages(checker: Checker, queue: QueueObject, commit: AppliedCommit): void {
    const { property, accepted, changed } = checker;
    const found = (text: string | undefined) => {
      if (text !== undefined) this.fail(property, queue, text);
    };
    if (accepted !== undefined)
      for (const message of commit.accepted) found(accepted(queue, message, commit));
    if (changed !== undefined) for (const change of commit.changes) found(changed(queue, change, commit));
  }

  /** Reports that the history does not end although nothing goes wrong any more. */
  stuck(text: string): void {
    const waiting = this.queues.map(({ name, ledger }) => {
      const { waiting, leased } = ledger.counts;
      return `${name}: ${waiting} waiting, ${leased} leased, ${ledger.pendingBatches.size} transfers`;
    });
    const [queue] = this.queues;
    if (queue !== undefined) this.check("stuck", queue, `${text}; ${waiting.join("; ")}`);
  }
}
