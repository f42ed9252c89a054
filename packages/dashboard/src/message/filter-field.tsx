import { useEffect, useRef, useState } from "preact/hooks";
import { FilterTerms } from "../page/help.tsx";
import { useKeys } from "../ui/keys.ts";

interface FilterFieldProps {
  readonly filter: string;
  /** Called when the reader has stopped typing. */
  readonly changed: (filter: string) => void;
  /** Why the filter cannot be read; empty for one that can. */
  readonly problem: string;
}

/** Pause in the typing after which messages are looked for, in ms. */
const PAUSE_MS = 300;

/** Field for a filter, in the grammar of the API and the command line. */
export function FilterField({ filter, changed, problem }: FilterFieldProps) {
  const [text, setText] = useState(filter);
  const [applied, setApplied] = useState(filter);
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // A link with another filter was followed.
  if (applied !== filter) {
    setApplied(filter);
    if (text.trim() !== filter) setText(filter);
  }
  useKeys({ f: () => field.current?.focus() });
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (value: string) => {
    clearTimeout(timer.current);
    changed(value.trim());
  };
  return (
    <search class="grow">
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          apply(text);
        }}
      >
        <label for="filter" class="hidden">
          Look for messages
        </label>
        <input
          id="filter"
          ref={field}
          type="search"
          placeholder="lamp  orderId:20042  error:timeout (f)"
          autoComplete="off"
          spellcheck={false}
          value={text}
          aria-invalid={problem !== ""}
          aria-describedby="filter-problem"
          onInput={(event) => {
            const { value } = event.currentTarget;
            setText(value);
            clearTimeout(timer.current);
            timer.current = setTimeout(() => apply(value), PAUSE_MS);
          }}
        />
        <span id="filter-problem" class="lost" role="status">
          {problem}
        </span>
        <details>
          <summary class="quiet">What can be looked for</summary>
          <FilterTerms />
        </details>
      </form>
    </search>
  );
}
