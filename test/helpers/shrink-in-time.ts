import fc from 'fast-check';

// A property that fails is shrunk for as long as it takes. Without a limit below that of a test, a test that found a counterexample would
// say only that it timed out.
fc.configureGlobal({ interruptAfterTimeLimit: 50_000, markInterruptAsFailure: true });
