import type { DamageKind, QueueDamage } from "@sluice/protocol";
import { timeOf } from "./time.ts";

/** Damage as the admin API shows it. */
export interface DamageView {
  readonly kind: DamageKind;
  readonly foundAt: string;
  /** Most messages that are lost by it; `null` where nobody can tell. */
  readonly messagesLost: number | null;
  readonly text: string;
}

export function damageViews(damage: readonly QueueDamage[]): DamageView[] {
  return damage.map(({ foundAtMs, ...entry }) => ({ ...entry, foundAt: timeOf(foundAtMs) }));
}
