import { CliError, EXIT_FAILED } from "@sluice/project/errors";
import { agree, type OnBroker } from "../on-broker.ts";
import { type Plan, planText } from "./plan.ts";

/**
 * Shows a plan and asks whether to go on. Throws `CliError` for a plan with a refusal, and where the user does not
 * agree.
 *
 * @returns false for a dry run.
 */
export async function agreeToPlan(
  { printer, json, surroundings }: OnBroker,
  plan: Plan,
  { dryRun, yes }: { readonly dryRun: boolean; readonly yes: boolean },
): Promise<boolean> {
  if (!json) printer.print(planText(plan));
  // Standard output is data. Who is asked sees the plan beside it.
  else if (!dryRun && !yes && surroundings.isInteractive) printer.warn(planText(plan));
  if (dryRun) {
    if (json) printer.print(JSON.stringify(plan, null, 2));
    else if (plan.refusal !== null) printer.warn(`\n${plan.refusal}`);
    return false;
  }
  if (plan.refusal !== null) throw new CliError(plan.refusal, EXIT_FAILED);
  await agree(surroundings, { question: "\nDo it?", yes });
  return true;
}
