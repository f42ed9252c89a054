/** What the admin API says of a queue; only what is looked at. */
export interface QueueFigures {
  readonly name: string;
  readonly messages: { readonly ready: number; readonly delayed: number; readonly leased: number };
  readonly damage: readonly DamageEntry[];
}

/** Damage as the admin API lists it. */
export interface DamageEntry {
  readonly kind: string;
  /** Most messages that are lost by it; `null` where nobody can tell. */
  readonly messagesLost: number | null;
  readonly text: string;
}

/** Every queue of the broker at an address. */
export async function queueFigures(url: string): Promise<QueueFigures[]> {
  const response = await fetch(new URL("/__sluice/api/queues", url));
  if (!response.ok) throw new Error(`the admin API answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { queues: QueueFigures[] }).queues;
}
