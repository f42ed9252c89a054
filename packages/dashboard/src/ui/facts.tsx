import type { ComponentChildren } from "preact";

/** A figure with what it counts. */
interface Figure {
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

/** List of names with their values, without the entries that are `null`. */
export function Facts({
  of,
  isDense = false,
}: {
  /** Whether entries stand beside each other where there is room. */
  readonly isDense?: boolean;
  readonly of: readonly (readonly [name: string, value: ComponentChildren] | null)[];
}) {
  return (
    <dl class={isDense ? "facts dense" : "facts"}>
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
