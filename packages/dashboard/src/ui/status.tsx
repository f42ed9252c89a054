import type { DamageView } from "../api/call.ts";
import type { DeliveryState } from "../text/delivery-state.ts";
import { None } from "./table.tsx";

/** A state as a coloured word with a line beside it. */
export function Status({ tone, word, detail }: DeliveryState) {
  if (word === "–") return <None />;
  return (
    <span class="status">
      <span class={`pill ${tone}`}>{word}</span>
      {detail === "" ? null : (
        <span class="detail" title={detail}>
          {detail}
        </span>
      )}
    </span>
  );
}

/** Lists the known damage of a store, above everything else. */
export function Damage({ damage }: { readonly damage: readonly DamageView[] }) {
  if (damage.length === 0) return null;
  return (
    <section class="notice bad" aria-label="Damage">
      <h2>Damaged</h2>
      <ul>
        {damage.map(({ foundAt, text }) => (
          <li key={foundAt + text}>
            <time dateTime={foundAt}>{foundAt}</time>: {text}
          </li>
        ))}
      </ul>
    </section>
  );
}
