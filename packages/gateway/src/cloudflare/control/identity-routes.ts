import { Hono } from "hono";
import { LOCAL_ACCOUNT_ID } from "../../account/local-account.ts";
import { succeed } from "../envelope.ts";
import { pageOf } from "../paging.ts";

/** The one account of this broker. Its API takes every account id, and answers with this one. */
export const ACCOUNT = { id: LOCAL_ACCOUNT_ID, name: "Sluice" } as const;

/**
 * Routes of the caller's identity and its accounts: clients ask them before they ask for queues (spec cloudflare-queues
 * 6.2).
 */
export function identityRoutes(): Hono {
  const app = new Hono();

  app.get("/accounts", (c) => {
    const { page, info } = pageOf(c, [ACCOUNT]);
    return succeed(c, page, info);
  });
  app.get("/accounts/:account_id", (c) => succeed(c, { ...ACCOUNT, id: c.req.param("account_id") }));
  app.get("/memberships", (c) => {
    const { page, info } = pageOf(c, [{ id: ACCOUNT.id, status: "accepted", account: ACCOUNT, roles: [] }]);
    return succeed(c, page, info);
  });
  app.get("/user", (c) => succeed(c, { id: ACCOUNT.id, email: "nobody@sluice.invalid" }));
  app.on("GET", ["/user/tokens/verify", "/accounts/:account_id/tokens/verify"], (c) =>
    succeed(c, { id: ACCOUNT.id, status: "active" }),
  );

  return app;
}
