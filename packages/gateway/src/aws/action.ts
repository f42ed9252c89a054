import type { Action, InputOf, OutputOf } from "@sluice/aws";
import type { Effect } from "../http/page-origin.ts";
import type { Need } from "../rights/rights.ts";

/** An action of a service. */
export interface AwsAction<Context, Input, Output> {
  /** Carries it out. Resolves with `undefined` where it answers nothing. */
  readonly run: (context: Context, input: Input) => Promise<Output>;
  /** Rights that its caller needs. */
  readonly need: Need;
}

/** Every action of a service, by its name in the service's model. */
export type AwsActions<Context, Model extends Readonly<Record<string, Action>>> = {
  readonly [Name in keyof Model]: AwsAction<
    Context,
    InputOf<Model[Name]>,
    Model[Name]["output"] extends null ? unknown : OutputOf<Model[Name]>
  >;
};

/** Finds the action of a name that the service has. */
export function actionNamed<Context, Model extends Readonly<Record<string, Action>>>(
  actions: AwsActions<Context, Model>,
  name: string,
): AwsAction<Context, object, object | undefined> {
  // Its input was read by its own shape.
  return actions[name] as unknown as AwsAction<Context, object, object | undefined>;
}

/**
 * Returns the effect of each action: one that needs no more than to read changes nothing.
 *
 * @param others further effects, by action.
 */
export function effectsOf<Name extends string>(
  actions: Readonly<Record<Name, { readonly need: Need }>>,
  others: Partial<Readonly<Record<Name, Effect>>> = {},
): Readonly<Record<Name, Effect>> {
  const effects = Object.entries<{ readonly need: Need }>(actions).map(([name, { need }]) => {
    const reads = need.scope === "read" || need.scope === "any";
    return [name, reads ? "reads" : "changes"];
  });
  return { ...Object.fromEntries(effects), ...others };
}
