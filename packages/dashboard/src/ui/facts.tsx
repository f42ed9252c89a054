import type { ComponentChildren } from "preact";

/** A figure with what it counts. */
export interface Figure {
  readonly label: string;
  readonly value: ComponentChildren;
}

/** The figures at the top of a page. */
export function Figures({ of }: { readonly of: readonly Figure[] }) {
  return (
    <dl class="figures">
      {of.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Names with what belongs to each; what is `null` is left out. */
export function Facts({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: ComponentChildren] | null)[];
}) {
  return (
    <dl class="facts">
      {of.map((fact) =>
        fact === null ? null : (
          <div key={fact[0]}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
