import { useState } from "preact/hooks";
import { keepToken, WRONG_TOKEN } from "../api/call.ts";

/** Form for a token of the broker. */
export function TokenForm({ reason, done }: { readonly reason: string; readonly done: () => void }) {
  const [token, setToken] = useState("");
  const [isWrong, setIsWrong] = useState(false);
  const problem = isWrong ? WRONG_TOKEN : reason;
  return (
    <form
      class="card pad"
      onSubmit={(event) => {
        event.preventDefault();
        const isKept = keepToken(token.trim());
        setIsWrong(!isKept);
        if (isKept) done();
      }}
    >
      <label for="token">
        This broker asks for one of its <code>SLUICE_API_TOKENS</code>. This tab remembers it until it is
        closed.
      </label>
      <div class="row">
        <input
          id="token"
          class="grow"
          type="password"
          autoComplete="off"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button type="submit">Open</button>
      </div>
      {problem === "" ? null : (
        <p role="alert" class="lost">
          {problem}
        </p>
      )}
    </form>
  );
}
