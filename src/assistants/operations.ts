import * as z from 'zod';
import { Failure, type Operation } from '#http/operations';
import { RpcFailure, RpcRequest, RpcResult } from './answers.ts';

const call = (method: string, params?: Record<string, unknown>) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params ? { params } : {}),
});

export const operations: Operation[] = [
  {
    method: 'post',
    path: '/mcp',
    tag: 'Assistants',
    summary: 'Answer an AI assistant',
    description:
      'A server of the [Model Context Protocol](https://modelcontextprotocol.io) (streamable HTTP, stateless) with read-only tools: `list_applications`, `describe_metrics`, `report`, `compare`, `explain_device` and `search`. Assistants list the tools and their parameters themselves. Each call of a tool counts like the request of the team API that it makes. A share link has the tools `report`, which answers what its page shows, and `describe_metrics`.',
    credential: 'assistantToken',
    body: {
      schema: RpcRequest,
      examples: {
        'list the tools': call('tools/list'),
        'call a tool': call('tools/call', { name: 'list_applications', arguments: {} }),
      },
    },
    answer: { status: 200, description: 'The result of the call.', schema: RpcResult },
    otherAnswers: { 202: { description: 'A notification was accepted.' } },
    failure: z.union([Failure, RpcFailure]),
  },
];
