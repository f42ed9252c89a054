import { useState } from "preact/hooks";
import { call, type QueueView, queuePath } from "../api/call.ts";
import { FormDialog } from "../ui/form-dialog.tsx";
import { FAULT_KINDS, type Fault, type FaultKind } from "./fault-kinds.ts";
import { useDevelopment } from "./use-development.tsx";

const KINDS = Object.keys(FAULT_KINDS) as FaultKind[];
const TIMES_MAX = 10_000;
const MS_MAX = 60_000;
const MS_DEFAULT = 1_000;

interface FaultsDialogProps {
  readonly queue: QueueView;
  readonly done: (text: string) => void;
  readonly closed: () => void;
}

/** Lets the next deliveries of a queue go wrong on purpose. */
export function FaultsDialog({ queue: { name, faults }, done, closed }: FaultsDialogProps) {
  const { refresh } = useDevelopment();
  const [chosen, setChosen] = useState<readonly Fault[]>(faults);
  const change = (kind: FaultKind, changed: Partial<Fault>) =>
    setChosen(chosen.map((fault) => (fault.kind === kind ? { ...fault, ...changed } : fault)));
  const number = (fault: Fault, member: "times" | "ms", label: string, max: number) => (
    <label class="row">
      <input
        class="short"
        type="number"
        min={member === "times" ? 1 : 0}
        max={max}
        required
        aria-label={`${fault.kind}: ${label}`}
        value={fault[member]}
        onInput={(event) => change(fault.kind, { [member]: event.currentTarget.valueAsNumber })}
      />
      {label}
    </label>
  );
  return (
    <FormDialog
      title={`Faults in deliveries of ${name}`}
      label="Set faults"
      submit={async () => {
        await call(`${queuePath(name)}/faults`, "PUT", { faults: chosen });
        refresh();
        done(chosen.length === 0 ? "The faults were ended." : "The faults were set.");
      }}
      closed={closed}
    >
      <p class="quiet">
        Handlers meet these in production. A fault counts as a failure does: attempts go up, and a dead letter
        comes of too many.
      </p>
      <ul class="plain faults">
        {KINDS.map((kind) => {
          const { what, hasMs } = FAULT_KINDS[kind];
          const fault = chosen.find((known) => known.kind === kind);
          return (
            <li key={kind}>
              <label>
                <input
                  type="checkbox"
                  checked={fault !== undefined}
                  onChange={({ currentTarget: { checked } }) =>
                    setChosen(
                      checked
                        ? [...chosen, { kind, times: 1, ms: MS_DEFAULT }]
                        : chosen.filter((known) => known.kind !== kind),
                    )
                  }
                />
                <code>{kind}</code>
                <span class="quiet">{what}</span>
              </label>
              {fault === undefined ? null : (
                <div class="row">
                  {number(fault, "times", "times", TIMES_MAX)}
                  {hasMs ? number(fault, "ms", "ms", MS_MAX) : null}
                </div>
              )}
            </li>
          );
        })}
      </ul>
    </FormDialog>
  );
}
