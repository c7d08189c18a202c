import * as z from 'zod';

/** A request or notification of JSON-RPC, with which clients of the Model Context Protocol call a server. */
export const RpcRequest = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]).optional().meta({ description: 'Absent in a notification.' }),
  method: z.string().meta({ description: 'Such as `initialize`, `tools/list` or `tools/call`.' }),
  params: z.record(z.string(), z.unknown()).optional(),
});

export const RpcResult = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  result: z.record(z.string(), z.unknown()).meta({
    description:
      'Of `tools/call`: the answer in `structuredContent`, and as text in `content`. With `isError`, the text says what to change.',
  }),
});

export const RpcFailure = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int(), z.null()]).optional(),
  error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
});
