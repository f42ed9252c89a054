import { bulkOrders, chunks, SEND_BATCH_MAX } from "./bulk.ts";
import { CATALOGUE } from "./catalogue.ts";
import type { Order } from "./order.ts";
import { HttpError, isCustomerId, readBulkCount, readOrderRequest, readTerms } from "./request.ts";

/** Most characters of a request body. An order with every product in it takes about 500. */
const BODY_LENGTH_MAX = 16_384;

interface Env {
  readonly ORDERS: Queue<Order>;
  readonly FULFILMENT: Service<FulfilmentEntrypoint>;
}

/** Methods of shop-consumer's `OrderStatus`, whose answer goes to the page unchanged. */
interface FulfilmentEntrypoint extends Rpc.WorkerEntrypointBranded {
  ofCustomer(customer: string): Promise<Record<string, unknown>>;
  followCustomer(customer: string): Promise<ReadableStream<Uint8Array>>;
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    try {
      switch (`${request.method} ${url.pathname}`) {
        case "GET /api/products":
          return Response.json({ products: CATALOGUE });
        case "GET /api/orders":
          return await showOrders(url, env, "now");
        case "GET /api/orders/live":
          return await showOrders(url, env, "live");
        case "POST /api/orders":
          return await placeOrder(request, env);
        case "POST /api/orders/bulk":
          return await placeBulk(request, url, env);
        default:
          throw new HttpError(404, `There is no ${request.method} ${url.pathname}`);
      }
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return Response.json({ error: error.message }, { status: error.status });
    }
  },
} satisfies ExportedHandler<Env>;

/**
 * `GET /api/orders?customer=ID`: returns the states of a customer's orders. `GET /api/orders/live?customer=ID` streams
 * them as server-sent events: now, and after each change.
 */
async function showOrders(url: URL, { FULFILMENT }: Env, as: "now" | "live"): Promise<Response> {
  const customer = url.searchParams.get("customer");
  if (!isCustomerId(customer)) {
    throw new HttpError(400, '"customer" must be 8 to 64 letters, digits, "-" or "_"');
  }
  try {
    const headers = { "cache-control": "no-store" };
    if (as === "now") return Response.json(await FULFILMENT.ofCustomer(customer), { headers });
    return new Response(await FULFILMENT.followCustomer(customer), {
      headers: { ...headers, "content-type": "text/event-stream" },
    });
  } catch (error) {
    console.error("The order status cannot be read:", error);
    throw new HttpError(503, "The order status cannot be read right now. Orders can still be placed.");
  }
}

/** `POST /api/orders`: sends one order as one message. */
async function placeOrder(request: Request, env: Env): Promise<Response> {
  const { lines, delaySeconds, customer } = readOrderRequest(await readJson(request));
  const order: Order = {
    id: crypto.randomUUID(),
    customer: customer ?? crypto.randomUUID(),
    bulk: null,
    lines,
    placedAt: Date.now(),
  };
  try {
    await env.ORDERS.send(order, { delaySeconds });
  } catch (error) {
    console.error("The queue did not take the order:", error);
    throw new HttpError(503, "The order could not be placed. Please try again.");
  }
  return accepted({ order, delaySeconds }, order.customer);
}

/** `POST /api/orders/bulk?count=N`: sends N orders, a hundred in a batch. */
async function placeBulk(request: Request, url: URL, env: Env): Promise<Response> {
  const count = readBulkCount(url.searchParams.get("count"));
  const { delaySeconds, customer } = readTerms(await readJson(request, {}));
  const bulk = {
    id: crypto.randomUUID(),
    customer: customer ?? crypto.randomUUID(),
    count,
    placedAt: Date.now(),
  };
  const orders = bulkOrders(bulk.id, bulk.customer, count, bulk.placedAt);
  const parts = chunks(orders, SEND_BATCH_MAX);
  const sends = await Promise.allSettled(
    parts.map((part) =>
      env.ORDERS.sendBatch(
        part.map((body) => ({ body })),
        { delaySeconds },
      ),
    ),
  );
  const lost = parts.filter((_, at) => sends[at]?.status === "rejected").flat();
  if (lost.length > 0) {
    const reasons = sends.filter((send) => send.status === "rejected").map((send) => send.reason);
    console.error("The queue did not take a part of the bulk order:", reasons[0]);
    throw new HttpError(503, `Only ${count - lost.length} of ${count} orders could be placed.`);
  }
  return accepted({ bulk, delaySeconds }, bulk.customer);
}

/** Reads the body as JSON; returns `missing` for an empty one, if that is allowed. */
async function readJson(request: Request, missing?: unknown): Promise<unknown> {
  const text = await request.text();
  if (text.length > BODY_LENGTH_MAX)
    throw new HttpError(413, `The body is longer than ${BODY_LENGTH_MAX} characters`);
  if (text === "" && missing !== undefined) return missing;
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, "The body must be JSON");
  }
}

/** Answers 202: the order is accepted, but not handled yet. `location` is the address of its state. */
function accepted(body: Record<string, unknown>, customer: string): Response {
  return Response.json(body, { status: 202, headers: { location: `/api/orders?customer=${customer}` } });
}
