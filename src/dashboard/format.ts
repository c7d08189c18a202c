export * from '#lib/format';
