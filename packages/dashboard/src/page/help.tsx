import { useState } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";
import { hasShortcuts, setShortcuts } from "../ui/keys.ts";

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["/"], "search all queues"],
  [["f"], "look for messages in this queue"],
  [["o"], "overview"],
  [["1", "2", "3", "4"], "parts of a queue's page"],
  [["s"], "send a message to this queue"],
  [["n", "p"], "next and previous message of the list"],
  [["?"], "this help"],
  [["Esc"], "close a dialog"],
];

const TERMS: readonly (readonly [term: string, what: string])[] = [
  ["lamp", "that text in the body"],
  ['body:"two words"', "the same, with a blank in it"],
  ["error:declined", "that text in its last error"],
  ["orderId:20042", "that field of the body, however deep"],
  ["customer.id:42", "the same of a field in a field"],
  ["id:3f2a", "an id that begins so"],
  ["state:delayed", "ready, delayed, leased or finished"],
  ["attempts:>2", "delivered more than twice"],
  ["age:>1h", "sent more than an hour ago"],
  ["attr.kind:order", "an attribute of that value"],
  ["from:orders", "dead-lettered from that queue"],
  ["group:g1", "of that message group"],
];

/** Dialog with the keys of the page and the terms of a filter. */
export function Help({ closed }: { readonly closed: () => void }) {
  const [isOn, setIsOn] = useState(hasShortcuts());
  return (
    <Dialog title="Help" closed={closed}>
      <h3>Keys</h3>
      <dl class="facts">
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt class="row">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="row">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => {
            setShortcuts(event.currentTarget.checked);
            setIsOn(event.currentTarget.checked);
          }}
        />
        Keys of one letter are shortcuts
      </label>
      <h3>Looking for messages</h3>
      <FilterTerms />
      <div class="row end">
        <button type="button" onClick={closed}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** Lists the terms of a filter. A message has to fit all of them. */
export function FilterTerms() {
  return (
    <dl class="facts">
      {TERMS.map(([term, what]) => (
        <div key={term}>
          <dt>
            <code>{term}</code>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
