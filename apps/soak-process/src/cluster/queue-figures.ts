/** Figures of a queue from the admin API that a run uses. */
export interface QueueFigures {
  readonly name: string;
  readonly messages: { readonly ready: number; readonly delayed: number; readonly leased: number };
  readonly damage: readonly DamageEntry[];
}

/** Damage as the admin API lists it. */
export interface DamageEntry {
  readonly kind: string;
  /** Most messages that are lost by it; `null` where that is not known. */
  readonly messagesLost: number | null;
  readonly text: string;
}

/** Lists every queue of a broker. @param get requests a path of that broker. */
export async function queueFigures(get: (path: string) => Promise<Response>): Promise<QueueFigures[]> {
  const response = await get("/__sluice/api/queues");
  if (!response.ok) throw new Error(`the admin API answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { queues: QueueFigures[] }).queues;
}
