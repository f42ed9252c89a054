import "./styles/index.css";
import { render } from "preact";
import { keepToken } from "./api/call.ts";
import { tokenIn } from "./api/route.ts";
import { App } from "./app.tsx";
import { keepFocus } from "./ui/keep-focus.ts";

const token = tokenIn(location.hash);
if (token !== null) {
  keepToken(token);
  // The token stays neither in the address nor in the history.
  history.replaceState(null, "", location.pathname);
}
keepFocus();
render(<App />, document.body);
