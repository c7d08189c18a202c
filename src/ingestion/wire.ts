// What clients put around the fields: other names, JSON within JSON, a type with spaces. Read here once, so that the schemas see one form.

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseObject(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : text;
  } catch {
    return text;
  }
}

/** A custom event's short names, as the SDKs send them. */
function readCustom(payload: Record<string, unknown>): Record<string, unknown> {
  const { en, pr, event_name = en, params = pr, ...rest } = payload;
  return { ...rest, event_name, params };
}

/** One form of an event's envelope; anything that is no object as it is. */
export function readWire(body: unknown): unknown {
  if (!isObject(body)) return body;
  const type = typeof body.type === 'string' ? body.type.trim() : body.type;
  const sent = typeof body.payload === 'string' ? parseObject(body.payload) : body.payload;
  const payload = type === 'custom' && isObject(sent) ? readCustom(sent) : sent;
  return type === body.type && payload === body.payload ? body : { ...body, type, payload };
}
