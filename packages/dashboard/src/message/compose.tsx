import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { call } from "../api/call.ts";
import { FormDialog } from "../ui/form-dialog.tsx";
import { checkDraft, type Draft, type SendRequest, WRITABLE } from "./draft.ts";

interface ComposeProps {
  readonly title: string;
  readonly label: string;
  readonly draft: Draft;
  /** Whether a sample of an event can be chosen for the body. */
  readonly hasSamples?: boolean;
  /** Content above the body, such as where the message goes. */
  readonly children?: ComponentChildren;
  /** Sends the message. The dialog shows its error and stays open. */
  readonly send: (request: SendRequest) => Promise<void>;
  readonly closed: () => void;
}

interface Sample {
  readonly name: string;
  readonly body: unknown;
}

interface Samples {
  readonly samples: readonly Sample[];
}

const HINTS = {
  json: "Arrives as the value: an object, a list, a number.",
  text: "Arrives as a string.",
  bytes: "Hexadecimal digits. Arrives as an ArrayBuffer.",
} as const;

/** Dialog for a message that is typed. Mistakes are shown at once, beside their fields. */
export function Compose({ title, label, draft: start, hasSamples, children, send, closed }: ComposeProps) {
  const [draft, setDraft] = useState(start);
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    // Without samples a body can be typed.
    if (hasSamples)
      call<Samples>("/event-samples").then(
        (answer) => setSamples(answer.samples),
        () => {},
      );
  }, [hasSamples]);
  const id = useId();
  const checked = checkDraft(draft);
  const problemOf = (field: "body" | "delay" | "group") =>
    !checked.ok && checked.field === field ? checked.text : "";
  return (
    <FormDialog
      title={title}
      label={label}
      isDisabled={!checked.ok}
      submit={async () => {
        if (checked.ok) await send(checked.request);
      }}
      closed={closed}
    >
      {children}
      {samples[0] && (
        <div class="field">
          <label for={`${id}-sample`}>Sample event</label>
          <select
            id={`${id}-sample`}
            onChange={({ currentTarget: { value } }) =>
              value && setDraft({ ...draft, contentType: "json", text: value })
            }
          >
            <option value="">none</option>
            {samples.map(({ name, body }) => (
              <option key={name} value={JSON.stringify(body, null, 2)}>
                {name}
              </option>
            ))}
          </select>
        </div>
      )}
      <div class="field">
        <label for={`${id}-type`}>Content type</label>
        <select
          id={`${id}-type`}
          value={draft.contentType}
          onChange={({ currentTarget: { value } }) =>
            setDraft({ ...draft, contentType: WRITABLE.find((known) => known === value) ?? "json" })
          }
        >
          {WRITABLE.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span class="hint">{HINTS[draft.contentType]}</span>
      </div>
      <div class="field">
        <label for={`${id}-body`}>Body</label>
        <textarea
          id={`${id}-body`}
          rows={10}
          spellcheck={false}
          // biome-ignore lint/a11y/noAutofocus: the field is in a dialog.
          autoFocus
          value={draft.text}
          aria-invalid={problemOf("body") !== ""}
          aria-describedby={`${id}-problem`}
          onInput={(event) => setDraft({ ...draft, text: event.currentTarget.value })}
        />
        <span id={`${id}-problem`} class="lost" role="status">
          {problemOf("body")}
        </span>
      </div>
      <div class="columns">
        <TextField
          id={`${id}-delay`}
          label="Delay in seconds"
          placeholder="the queue's own"
          value={draft.delay}
          problem={problemOf("delay")}
          changed={(delay) => setDraft({ ...draft, delay })}
        />
        {draft.group === null ? null : (
          <TextField
            id={`${id}-group`}
            label="Message group"
            placeholder=""
            value={draft.group}
            problem={problemOf("group")}
            changed={(group) => setDraft({ ...draft, group })}
          />
        )}
      </div>
    </FormDialog>
  );
}

interface TextFieldProps {
  readonly id: string;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly problem: string;
  readonly changed: (value: string) => void;
}

function TextField({ id, label, placeholder, value, problem, changed }: TextFieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        placeholder={placeholder}
        value={value}
        aria-invalid={problem !== ""}
        aria-describedby={`${id}-problem`}
        onInput={(event) => changed(event.currentTarget.value)}
      />
      <span id={`${id}-problem`} class="lost" role="status">
        {problem}
      </span>
    </div>
  );
}
