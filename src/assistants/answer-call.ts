import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { logError, underlying } from '#lib/log';
import { sharedTools, TEAM_TOOLS } from './tools/list.ts';
import { type Ask, type Tool, ToolError } from './tools/tool.ts';

/** A caller of the tools. `sharedPath` is the path of the page that a share link shows; null for a team, which has all tools. */
type ToolCaller = { ask: Ask; sharedPath: string | null; requestId: string };

const INSTRUCTIONS =
  'Attribution and revenue figures of mobile apps. Begin with list_applications: other tools need an application_id, and its time zone and `today` tell which days to ask for. Look up definitions with describe_metrics before you interpret a figure. Answers with figures (report, compare, explain_device) say through when events are counted (counted_through; null if unknown) and what was left out (cut); reports of amounts also say which lack an exchange rate (unconverted). Lists (list_applications, search) say in cut if there are more. Pass that on.';
const SHARED_INSTRUCTIONS =
  'One shared view of the figures of a mobile app: `report` answers what its page shows, and describe_metrics defines the metrics. `report` says through when events are counted (counted_through; null if unknown), what the figures lack (notices) and which rows were left out (cut): pass that on.';

/** Errors that a caller can act on are answers of the tool; what went wrong inside is logged and not told. */
async function run(tool: Tool, caller: ToolCaller, input: Record<string, unknown>) {
  try {
    const answer = await tool.run(caller.ask, input);
    return { structuredContent: answer, content: [{ type: 'text' as const, text: JSON.stringify(answer) }] };
  } catch (error) {
    if (!(error instanceof ToolError)) {
      const cause = underlying(error);
      logError('tool failed', cause instanceof Error ? cause.stack : String(cause), {
        request_id: caller.requestId,
        tool: tool.name,
      });
    }
    const text = error instanceof ToolError ? error.message : 'Unexpected error';
    return { isError: true, content: [{ type: 'text' as const, text }] };
  }
}

function newServer(tools: readonly Tool[], caller: ToolCaller): McpServer {
  const instructions = caller.sharedPath === null ? INSTRUCTIONS : SHARED_INSTRUCTIONS;
  const server = new McpServer(
    { name: 'attribution', title: 'Attribution', version: '1' },
    { instructions, capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of tools) {
    const { name, title, description, inputSchema, outputSchema } = tool;
    const annotations = { readOnlyHint: true, openWorldHint: false };
    server.registerTool(
      name,
      { title, description, inputSchema, outputSchema, annotations },
      (input: Record<string, unknown>) => run(tool, caller, input),
    );
  }
  return server;
}

/**
 * Answers a request of the Model Context Protocol, of the revision of 2026 or an earlier one. Nothing is kept between requests: each has a
 * server of its own.
 */
export async function answerCall(request: Request, caller: ToolCaller): Promise<Response> {
  const tools = caller.sharedPath === null ? TEAM_TOOLS : sharedTools(caller.sharedPath);
  const create = () => newServer(tools, caller);
  const call = new Request(request);
  // A client that does not say takes anything.
  if (/^(?:\*\/\*)?$/.test(request.headers.get('Accept') ?? '')) {
    call.headers.set('Accept', 'application/json, text/event-stream');
  }
  if (!(await isLegacyRequest(call))) {
    return createMcpHandler(create, { legacy: 'reject', maxSubscriptions: 0 }).fetch(call);
  }
  // Answers in JSON, as no tool has anything to say before its result.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await create().connect(transport);
  return transport.handleRequest(call);
}
